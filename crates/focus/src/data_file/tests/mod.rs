//! Files of every format, honest and hostile, made here.

mod honest;
mod hostile;
mod make;

use super::*;

/// Looks into a file of that name.
fn look(name: &str, bytes: &[u8]) -> Inspection {
    look_within(name, bytes, &Bounds::default())
}

fn look_within(name: &str, bytes: &[u8], bounds: &Bounds) -> Inspection {
    let url = format!("https://data.example.jp/files/{name}");
    let hints = Hints {
        url: &url,
        ..Hints::default()
    };
    inspect(bytes, &hints, bounds)
}
