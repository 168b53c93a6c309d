//! Reads what pages, hosts and servers are called.

use std::collections::HashMap;
use std::path::Path;

use super::LoadOptions;
use super::text::{Lines, shortened};
use crate::progress::{Progress, Reporter, Stage};
use crate::{GraphError, Hosts, Urls};

/// Reads a list with a name for each page: line *n*, from 0, is that of page *n*. Bytes that are no UTF-8 are replaced.
pub(super) fn read(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Urls, GraphError> {
    let mut lines = Lines::open(path)?;
    let mut names = Urls::new();
    let mut reporter = Reporter::new(progress, Stage::ReadNames, lines.size());
    loop {
        reporter.at(lines.consumed());
        let Some((number, line)) = lines.next()? else {
            break;
        };
        if u64::from(options.pages_max) < number {
            return Err(GraphError::TooManyPages {
                path: path.to_owned(),
                pages: number,
                pages_max: options.pages_max,
            });
        }
        names.push(&String::from_utf8_lossy(line));
    }
    reporter.finish();
    Ok(names)
}

/// Reads the servers of hosts, and gives each host its own. Hosts that the graph does not have are passed over.
pub(super) fn with_servers(hosts: Hosts, path: &Path) -> Result<Hosts, GraphError> {
    let mut lines = Lines::open(path)?;
    let mut servers: HashMap<String, String> = HashMap::new();
    let known: std::collections::HashSet<String> = (0..hosts.count())
        .map(|host| hosts.name(host).into_owned())
        .collect();
    while let Some((number, line)) = lines.next()? {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let (host, server) = text
            .split_once('\t')
            .map(|(host, server)| (host.trim(), server.trim()))
            .filter(|(host, server)| !host.is_empty() && !server.is_empty())
            .ok_or_else(|| GraphError::NoServer {
                path: path.to_owned(),
                line: number,
                text: shortened(line),
            })?;
        if known.contains(host) {
            servers.insert(host.to_owned(), server.to_owned());
        }
    }
    Ok(hosts.with_servers(|_, name| servers.get(name).map(String::as_str)))
}
