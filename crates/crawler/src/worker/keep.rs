//! Keeping: turns an exchange into WARC records, and waits when the disk is full.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use junkai_archive::{Capture, Stored, Truncated, WriteError, Writer};
use junkai_fetch::{Exchange, Failure, Truncation};
use junkai_weburl::PageUrl;

use super::Turn;
use super::links::Understood;
use crate::CrawlError;
use crate::progress::Progress;
use crate::visit::{Outcome, Place, status, timestamp_of};

/// How long to wait before a write is tried again on a full disk.
const DISK_PATIENCE: Duration = Duration::from_secs(1);

/// The worker's WARC file.
pub(super) struct Keeper {
    writer: RefCell<Writer>,
    progress: Arc<Progress>,
}

impl Keeper {
    pub(super) fn new(writer: Writer, progress: Arc<Progress>) -> Keeper {
        Keeper {
            writer: RefCell::new(writer),
            progress,
        }
    }

    /// Stores what came, if anything is to be stored, and says what to report.
    pub(super) async fn keep(
        &self,
        url: &PageUrl,
        turn: &Turn,
        exchange: &Exchange,
        understood: &Understood,
    ) -> Result<Outcome, CrawlError> {
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
            outcome.annotations.push("noarchive".to_owned());
            "not kept: the page says noarchive".clone_into(&mut outcome.result);
            return Ok(outcome);
        }
        let stored = self.store(url, turn, exchange, understood).await?;
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
        exchange: &Exchange,
        understood: &Understood,
    ) -> Result<Stored, CrawlError> {
        let mut protocol = Vec::with_capacity(2);
        protocol.extend(exchange.protocol.map(junkai_fetch::Protocol::as_str));
        protocol.extend(exchange.tls.as_ref().map(|tls| tls.version));
        let metadata = metadata(turn, exchange, understood);
        let capture = Capture {
            target_uri: url.as_str(),
            date: timestamp_of(turn.started),
            address: exchange.remote.map_or(turn.address, |remote| remote.ip()),
            protocol: &protocol,
            cipher: exchange.tls.as_ref().map(|tls| tls.cipher.as_str()),
            request: &exchange.request,
            response: &exchange.response,
            head_length: exchange.head.as_ref().map_or(0, junkai_fetch::Head::length),
            payload: exchange.payload(),
            truncated: exchange.truncated.map(truncated),
            identified_payload_type: None,
            metadata: &metadata,
            revisit: None,
        };
        let before = self.writer.borrow().bytes_written();
        let mut result = self.writer.borrow_mut().store(&capture);
        if matches!(result, Err(WriteError::DiskFull { .. })) {
            self.progress.wait_for_room(true);
            while matches!(result, Err(WriteError::DiskFull { .. })) {
                tokio::time::sleep(DISK_PATIENCE).await;
                result = self.writer.borrow_mut().store(&capture);
            }
            self.progress.wait_for_room(false);
        }
        self.progress
            .bytes_stored
            .add(self.writer.borrow().bytes_written().saturating_sub(before));
        Ok(result?)
    }

    /// Closes the file.
    pub(super) fn finish(&self) -> Result<(), CrawlError> {
        self.writer.borrow_mut().finish().map_err(CrawlError::from)
    }
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
        Some(Truncation::Length) => outcome.annotations.push("lenTrunc".to_owned()),
        Some(Truncation::Time) => outcome.annotations.push("timeTrunc".to_owned()),
        Some(Truncation::Disconnect) => outcome.annotations.push("midFetchTrunc".to_owned()),
        None => {}
    }
    if let Some(problem) = exchange.tls.as_ref().and_then(|tls| tls.problem.as_ref()) {
        outcome.annotations.push(format!("tls:{problem}"));
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

/// Heritrix's code for a failure.
fn status_of(failure: &Failure) -> i32 {
    match failure {
        Failure::Connect(_) | Failure::ConnectTimeout | Failure::Tls(_) => status::CONNECT_FAILED,
        Failure::Disconnected { .. } | Failure::StaleConnection => status::CONNECTION_LOST,
        Failure::FirstByteTimeout | Failure::TotalTimeout | Failure::TooSlow => status::TIMED_OUT,
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
    turn: &Turn,
    exchange: &Exchange,
    understood: &Understood,
) -> Vec<(&'static str, String)> {
    let mut fields = Vec::with_capacity(5);
    if turn.visit.hops.is_empty() {
        fields.push(("seed", String::new()));
    } else {
        fields.push(("via", turn.visit.via.to_string()));
        fields.push(("hopsFromSeed", turn.visit.hops.to_string()));
    }
    fields.push(("fetchTimeMs", exchange.timing.ended.as_millis().to_string()));
    if let Some(charset) = understood.charset {
        fields.push(("charsetForLinkExtraction", charset.to_owned()));
    }
    if let Some(language) = &understood.language {
        fields.push(("language", language.clone()));
    }
    if let Some(irregular) = &exchange.irregular {
        fields.push(("irregular", irregular.clone()));
    }
    fields
}
