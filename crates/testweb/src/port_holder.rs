//! Who listens on a port, as far as Linux tells: for the message that a port is taken.

use std::fs;
use std::path::Path;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// The process that listens on a TCP port, by name and number; none if it is hidden from us, or there is no `/proc`.
pub(crate) fn holder_of(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let mut inodes = tables
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| inodes_of(&table, port));
    inodes.find_map(|inode| holder_of_socket(&format!("socket:[{inode}]")))
}

/// The inodes of the sockets that listen on a port, in a table of `/proc/net`.
fn inodes_of(table: &str, port: u16) -> Vec<String> {
    let ending = format!(":{port:04X}");
    let inode_of = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let is_it = local.ends_with(&ending) && *state == LISTENING;
        is_it.then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(inode_of).collect()
}

fn holder_of_socket(socket: &str) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    processes
        .filter(|process| has_open(&process.path(), socket))
        .find_map(|process| {
            // Not `self`, which is a process by another name.
            let number: u32 = process.file_name().to_str()?.parse().ok()?;
            let name = fs::read_to_string(process.path().join("comm")).ok()?;
            Some(format!("{} (process {number})", name.trim_end()))
        })
}

/// Whether a process has a socket open.
fn has_open(process: &Path, socket: &str) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else {
        return false;
    };
    descriptors.filter_map(Result::ok).any(|descriptor| {
        fs::read_link(descriptor.path()).is_ok_and(|target| target.as_os_str() == socket)
    })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn our_own_port_is_held_by_us() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let holder = holder_of(port).unwrap();
        assert!(
            holder.ends_with(&format!("(process {})", std::process::id())),
            "{holder}"
        );
        drop(listener);
        assert_eq!(holder_of(port), None);
    }
}
