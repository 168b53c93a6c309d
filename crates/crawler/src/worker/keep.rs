//! Keeping: turns an exchange into WARC records, and waits when the disk is full.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use junkai_archive::{
    Capture, Resource, RevisitOf, RevisitProfile, Stored, Truncated, WriteError, Writer,
};
use junkai_fetch::{Exchange, Failure, Resolved, Truncation};
use junkai_frontier::Time;
use junkai_weburl::PageUrl;

use super::Turn;
use super::earlier::Earlier;
use super::links::{Brought, Understood};
use super::payloads::{PayloadKey, Payloads};
use crate::CrawlError;
use crate::annotation::{self, CUT};
use crate::clock::Clock;
use crate::platform::since_epoch;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::unread::place_of;
use crate::visit::{Kept, Outcome, Place, status};

/// How long to wait before a write is tried again on a full disk.
const DISK_PATIENCE: Duration = Duration::from_secs(1);

/// The worker's WARC file.
pub(super) struct Keeper {
    writer: RefCell<Writer>,
    /// None where every capture is to be stored in full.
    payloads: Option<RefCell<Payloads>>,
    progress: Arc<Progress>,
    clock: Clock,
}

impl Keeper {
    pub(super) fn new(
        writer: Writer,
        settings: &Settings,
        progress: Arc<Progress>,
        clock: Clock,
    ) -> Keeper {
        let payloads = || RefCell::new(Payloads::new(settings.archive.digest));
        Keeper {
            writer: RefCell::new(writer),
            payloads: settings.crawl.dedupe.then(payloads),
            progress,
            clock,
        }
    }

    /// Stores what came, if anything is to be stored, and says what to report.
    pub(super) async fn keep(
        &self,
        url: &PageUrl,
        turn: &Turn,
        brought: Brought<'_>,
        understood: &Understood,
    ) -> Result<Outcome, CrawlError> {
        let exchange = brought.exchange;
        let mut outcome = describe(exchange);
        self.progress.bytes_received.add(outcome.size);
        let (Some(status), false) = (exchange.status(), exchange.response.is_empty()) else {
            return Ok(outcome);
        };
        if status == 429 {
            "429: the server asked for rest; its answer is not the page"
                .clone_into(&mut outcome.result);
            return Ok(outcome);
        }
        if understood.must_not_keep {
            outcome.annotations.push(annotation::NO_ARCHIVE.to_owned());
            "not kept: the page says noarchive".clone_into(&mut outcome.result);
            return Ok(outcome);
        }
        let Storing { stored, repeats } = self.store(url, turn, brought, understood).await?;
        if let Some(repeats) = &repeats {
            self.progress.duplicates.add(1);
            outcome.annotations.push(match repeats.profile {
                RevisitProfile::IdenticalPayloadDigest => annotation::DUPLICATE_DIGEST.to_owned(),
                RevisitProfile::ServerNotModified => annotation::DUPLICATE_NOT_MODIFIED.to_owned(),
            });
        }
        outcome.kept = Some(Kept {
            payload_digest: stored.payload_digest.clone(),
            indexed_digest: stored.indexed_digest.clone(),
            captured: match &repeats {
                Some(repeats) => time_of(repeats.date),
                None => time_of(self.clock.date(since_epoch(exchange.started))),
            },
            place: repeats
                .is_none()
                .then(|| place_of(&stored.file, stored.offset)),
        });
        outcome.digest = Some(stored.payload_digest.clone());
        outcome.warc = Some(Place {
            file: Arc::clone(&stored.file),
            offset: stored.offset,
            length: stored.length,
        });
        Ok(outcome)
    }

    /// Writes the records; on a full disk, waits for room as long as it takes.
    async fn store(
        &self,
        url: &PageUrl,
        turn: &Turn,
        brought: Brought<'_>,
        understood: &Understood,
    ) -> Result<Storing, CrawlError> {
        let exchange = brought.exchange;
        let mut protocol = Vec::with_capacity(2);
        protocol.extend(exchange.protocol.map(junkai_fetch::Protocol::as_str));
        protocol.extend(exchange.tls.as_ref().map(|tls| tls.version));
        let metadata = metadata(url, turn, exchange, understood);
        let capture = Capture {
            target_uri: url.as_str(),
            date: self.clock.date(since_epoch(exchange.started)),
            address: exchange.remote.map_or(turn.address, |remote| remote.ip()),
            protocol: &protocol,
            cipher: exchange.tls.as_ref().map(|tls| tls.cipher.as_str()),
            request: &exchange.request,
            response: &exchange.response,
            head_length: exchange.head.as_ref().map_or(0, junkai_fetch::Head::length),
            payload: exchange.payload(),
            payload_digest: brought.payload_digest,
            truncated: exchange.truncated.map(truncated),
            identified_payload_type: None,
            metadata: &metadata,
            revisit: None,
        };
        let earlier = Earlier::of(url, turn);
        let has_known_payload = brought.has_known_payload && self.dedupes();
        if let Some(revisit) = earlier.repeated_by(exchange, has_known_payload) {
            let repeat = Capture {
                revisit: Some(revisit),
                ..capture
            };
            let stored = match self.write(&repeat)? {
                Some(stored) => stored,
                None => self.write_when_there_is_room(&repeat).await?,
            };
            return Ok(Storing::repeat(stored, &revisit));
        }
        let is_whole = exchange.status() == Some(200) && exchange.truncated.is_none();
        let payloads = self.payloads.as_ref().filter(|_| is_whole);
        let payloads =
            payloads.and_then(|payloads| Some((payloads, PayloadKey::of(capture.payload)?)));
        let known = payloads.map(|(payloads, key)| (payloads.borrow(), key));
        let file = self
            .writer
            .borrow()
            .position()
            .map(|position| position.file);
        let twin = known
            .as_ref()
            .and_then(|(known, key)| known.twin(file.as_deref(), *key, capture.payload));
        let stored = self.write(&Capture {
            revisit: twin,
            ..capture
        })?;
        if let (Some(stored), Some(twin)) = (&stored, &twin) {
            return Ok(Storing::repeat(stored.clone(), twin));
        }
        drop(known);
        let stored = match stored {
            Some(stored) => stored,
            // By then another file may be open: it is stored in full.
            None => self.write_when_there_is_room(&capture).await?,
        };
        if let Some((payloads, key)) = payloads {
            payloads
                .borrow_mut()
                .remember(url.as_str(), capture.date, key, &stored);
        }
        Ok(Storing {
            stored,
            repeats: None,
        })
    }

    fn dedupes(&self) -> bool {
        self.payloads.is_some()
    }

    /// Writes the records, unless the disk is full.
    fn write(&self, capture: &Capture<'_>) -> Result<Option<Stored>, CrawlError> {
        let mut writer = self.writer.borrow_mut();
        let before = writer.bytes_written();
        let result = writer.store(capture);
        let written = writer.bytes_written().saturating_sub(before);
        self.progress.bytes_stored.add(written);
        match result {
            Ok(stored) => Ok(Some(stored)),
            Err(WriteError::DiskFull { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn write_when_there_is_room(&self, capture: &Capture<'_>) -> Result<Stored, CrawlError> {
        self.progress.wait_for_room(true);
        loop {
            tokio::time::sleep(DISK_PATIENCE).await;
            if let Some(stored) = self.write(capture)? {
                self.progress.wait_for_room(false);
                return Ok(stored);
            }
        }
    }

    /// Keeps the answer of a name server, as Heritrix does.
    pub(super) fn keep_dns(&self, host: &str, resolved: &Resolved) -> Result<(), CrawlError> {
        if resolved.records.is_empty() {
            // An address literal was not asked for.
            return Ok(());
        }
        let text = resolved.text();
        let resource = Resource {
            target_uri: &format!("dns:{host}"),
            date: self.clock.date(since_epoch(resolved.answered)),
            address: None,
            content_type: "text/dns",
            block: text.as_bytes(),
        };
        match self.writer.borrow_mut().store_resource(&resource) {
            // The visit that the address is for will wait for room; the name can be asked for again.
            Ok(_) | Err(WriteError::DiskFull { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Closes the file.
    pub(super) fn finish(&self) -> Result<(), CrawlError> {
        self.writer.borrow_mut().finish().map_err(CrawlError::from)
    }
}

/// A capture that is in the archive.
struct Storing {
    stored: Stored,
    /// The earlier one whose payload it repeats.
    repeats: Option<Repeats>,
}

struct Repeats {
    profile: RevisitProfile,
    date: Timestamp,
}

impl Storing {
    fn repeat(stored: Stored, revisit: &RevisitOf<'_>) -> Storing {
        Storing {
            stored,
            repeats: Some(Repeats {
                profile: revisit.profile,
                date: revisit.date,
            }),
        }
    }
}

fn time_of(date: Timestamp) -> Time {
    Time::from_micros(u64::try_from(date.as_microsecond()).unwrap_or_default())
}

/// What the logs say of an exchange, before it is stored.
fn describe(exchange: &Exchange) -> Outcome {
    let mut outcome = Outcome {
        size: exchange.response.len() as u64,
        ..Outcome::default()
    };
    let type_of = |value: &[u8]| {
        String::from_utf8_lossy(value)
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    outcome.mime = exchange.header("content-type").map(type_of);
    match exchange.truncated {
        Some(Truncation::Length) => outcome.annotations.push(CUT[0].to_owned()),
        Some(Truncation::Time) => outcome.annotations.push(CUT[1].to_owned()),
        Some(Truncation::Disconnect) => outcome.annotations.push(CUT[2].to_owned()),
        None => {}
    }
    if let Some(problem) = exchange.tls.as_ref().and_then(|tls| tls.problem.as_ref()) {
        outcome
            .annotations
            .push(format!("{}{problem}", annotation::TLS));
    }
    match (exchange.status(), exchange.failure()) {
        (Some(code), None) => {
            outcome.status = i32::from(code);
            outcome.result = code.to_string();
        }
        (Some(code), Some(failure)) => {
            outcome.status = i32::from(code);
            outcome.result = format!("{code}, cut short: {failure}");
        }
        (None, Some(failure)) => {
            outcome.status = status_of(failure);
            outcome.result = failure.to_string();
        }
        (None, None) => {
            outcome.status = status::RUNTIME_ERROR;
            "no answer".clone_into(&mut outcome.result);
        }
    }
    outcome
}

/// What the logs say of an exchange that failed and of which nothing is kept.
pub(super) fn describe_failed(exchange: &Exchange) -> Outcome {
    let mut outcome = describe(exchange);
    if let Some(failure) = exchange.failure() {
        outcome.status = status_of(failure);
        outcome.result = failure.to_string();
        outcome.annotations.clear();
    }
    outcome
}

/// Heritrix's code for a failure.
fn status_of(failure: &Failure) -> i32 {
    match failure {
        Failure::Connect(_)
        | Failure::ConnectTimeout
        | Failure::Tls(_)
        | Failure::Proxy(_)
        | Failure::ProxyRefused(_) => status::CONNECT_FAILED,
        Failure::Disconnected { .. } | Failure::StaleConnection => status::CONNECTION_LOST,
        Failure::FirstByteTimeout | Failure::TotalTimeout | Failure::TooSlow | Failure::GaveWay => {
            status::TIMED_OUT
        }
        Failure::Refused(_) => status::OUT_OF_SCOPE,
        _ => status::RUNTIME_ERROR,
    }
}

fn truncated(truncation: Truncation) -> Truncated {
    match truncation {
        Truncation::Length => Truncated::Length,
        Truncation::Time => Truncated::Time,
        Truncation::Disconnect => Truncated::Disconnect,
    }
}

fn metadata(
    url: &PageUrl,
    turn: &Turn,
    exchange: &Exchange,
    understood: &Understood,
) -> Vec<(&'static str, String)> {
    let visit = &turn.visit;
    let mut fields = Vec::with_capacity(5);
    if *url != visit.url {
        // robots.txt, in the turn of a page.
        fields.push(("via", visit.url.to_string()));
        fields.push(("hopsFromSeed", format!("{}P", visit.hops)));
    } else if visit.hops.is_empty() {
        fields.push(("seed", String::new()));
    } else {
        fields.push(("via", visit.via.to_string()));
        fields.push(("hopsFromSeed", visit.hops.to_string()));
    }
    fields.push(("fetchTimeMs", exchange.timing.ended.as_millis().to_string()));
    if let Some(charset) = understood.charset {
        fields.push(("charsetForLinkExtraction", charset.to_owned()));
    }
    if let Some(language) = &understood.language {
        fields.push(("language", language.clone()));
    }
    if let Some(redacted) = &exchange.redacted {
        fields.push(("requestRedacted", redacted.clone()));
    }
    if let Some(irregular) = &exchange.irregular {
        fields.push(("irregular", irregular.clone()));
    }
    fields
}
