//! The log of a program on standard error.

use crate::print::LogLines;

/// Starts it. `verbose` is how often `-v` was given: it says how much of what junkai's rooms tell is shown, unless `RUST_LOG` does.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(format!("error,junkai={level}")));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| LogLines)
        .with_ansi(false)
        .with_target(false)
        // Where standard error cannot be written to, saying so there would panic.
        .log_internal_errors(false)
        .init();
}
