//! What an archive's own log says of its servers: the planner, told of every visit again.

use std::io::{BufRead as _, ErrorKind};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use hashbrown::HashMap;
use jiff::Timestamp;
use junkai_archive::logs;
use junkai_frontier::{Time, server_key};
use junkai_revisit::{
    Digest, Draw, Found, Hints, Next, PageState, Planner, RevisitConfig, Sighting, Version,
};
use junkai_simulation::what_if::LogError;
use junkai_weburl::{CanonicalConfig, Canonicalizer, Fingerprint, PageUrl};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

/// Server keys: enough for few servers to share one.
const KEYS: u32 = 1 << 20;

/// Bytes of a line that are read; what is longer is no visit.
const LINE_BYTES_MAX: usize = 1 << 20;

/// What was read of a log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The planner, after all visits.
    pub planner: Planner,
    /// Visits that it was told of.
    pub visits: u64,
    /// Lines that were no visit to a page with a known server.
    pub skipped: u64,
}

#[derive(Deserialize)]
struct Line {
    status: i32,
    url: String,
    started: Timestamp,
    duration_ms: u64,
    digest: Option<String>,
    server: Option<IpAddr>,
}

/// Tells a planner all visits of `logs/events.jsonl` in an archive.
pub fn read(archive: &Path, config: &RevisitConfig) -> Result<Logged, LogError> {
    let path = archive.join("logs").join("events.jsonl");
    let failed = |source| LogError {
        path: path.clone(),
        source,
    };
    if logs::log_files(archive, "events.jsonl").is_ok_and(|files| files.is_empty()) {
        return Err(failed(ErrorKind::NotFound.into()));
    }
    let mut lines = logs::read_log(archive, "events.jsonl").map_err(failed)?;
    let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
    let mut states: HashMap<Fingerprint, PageState> = HashMap::new();
    let mut logged = Logged {
        planner: Planner::new(config, KEYS),
        visits: 0,
        skipped: 0,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(logged);
        }
        let visit = visit_of(&line, &canonicalizer);
        match visit {
            Some((page, line)) => logged.tell(&page, &line, &mut states),
            None => logged.skipped += 1,
        }
    }
}

fn visit_of(bytes: &[u8], canonicalizer: &Canonicalizer) -> Option<(PageUrl, Line)> {
    if LINE_BYTES_MAX < bytes.len() {
        return None;
    }
    let line: Line = serde_json::from_slice(bytes).ok()?;
    let page = canonicalizer.parse(&line.url).ok()?;
    line.server?;
    Some((page, line))
}

impl Logged {
    fn tell(&mut self, page: &PageUrl, line: &Line, states: &mut HashMap<Fingerprint, PageState>) {
        let (Some(address), Ok(micros)) =
            (line.server, u64::try_from(line.started.as_microsecond()))
        else {
            self.skipped += 1;
            return;
        };
        self.visits += 1;
        let at = Time::from_micros(micros);
        let sighting = Sighting {
            at,
            page,
            server: server_key(address, KEYS),
            took: Duration::from_millis(line.duration_ms),
            found: found(line, at),
            hints: Hints::default(),
        };
        let fingerprint = page.fingerprint();
        let next = if let Some(state) = states.get_mut(&fingerprint) {
            let draw = Draw::of_visit(fingerprint, state.visits);
            self.planner.revisited(state, &sighting, draw).next
        } else {
            let draw = Draw::of_visit(fingerprint, 0);
            let (state, next) = self.planner.first_visit(&sighting, draw);
            states.insert(fingerprint, state);
            next
        };
        if let Next::GiveUp(_) = next {
            states.remove(&fingerprint);
        }
    }
}

fn found(line: &Line, at: Time) -> Found {
    match line.status {
        200..=299 => {
            let digest = line.digest.as_deref().unwrap_or_default();
            let digest = Digest::new(&xxh3_64(digest.as_bytes()).to_le_bytes());
            digest.map_or(Found::Failed, |digest| {
                Found::Page(Version {
                    digest,
                    indexed: None,
                    content: None,
                    unread: None,
                    captured: at,
                    etag: None,
                    last_modified: None,
                })
            })
        }
        304 => Found::NotModified,
        301 | 308 => Found::Moved,
        404 | 410 => Found::Gone,
        _ => Found::Failed,
    }
}
