//! The digests that a record names, compared with its bytes.

use std::io::{self, Read};

use junkai_http::{ChunkDecoder, TextHead};

use super::Finding;
use super::standard::{clipped, is_identical_digest};
use crate::digest::{Algorithm, Digester, is_same, value_of};
use crate::indexer::read_http_head;
use crate::reader::Record;
use crate::record_head::RecordHead;

/// What became of the digests of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Right ones.
    pub(super) right: u64,
    /// Those in an algorithm that we do not know.
    pub(super) unknown: u64,
}

/// Reads the block, and compares the digests that the record names.
pub(super) fn check_digests<R: Read>(
    record: &mut Record<'_, R>,
    found: &mut Vec<Finding>,
) -> io::Result<Counts> {
    let head = record.head().clone();
    let mut counts = Counts::default();
    let block = Expected::of(&head, &BLOCK, &mut counts, found);
    // The payload of a segment goes on elsewhere.
    let has_payload = head.field("WARC-Segment-Number").is_none();
    let payload = has_payload
        .then(|| Expected::of(&head, &PAYLOAD, &mut counts, found))
        .flatten();
    let is_revisit = head.record_type() == "revisit";

    let is_http = matches!(head.record_type(), "request" | "response" | "revisit")
        && head
            .field("Content-Type")
            .is_some_and(|text| text.trim().starts_with("application/http"));
    let start = if is_http {
        read_http_head(record)?
    } else {
        Vec::new()
    };
    let http = TextHead::parse(&start);
    let mut sums = Sums {
        block: block.as_ref().map(Expected::digester),
        body: payload.as_ref().map(Expected::digester),
        payload: payload
            .as_ref()
            .filter(|_| http.is_chunked())
            .map(Expected::digester),
        chunks: ChunkDecoder::default(),
    };
    sums.block(&start);
    sums.body(&start[http.length.min(start.len())..]);
    let mut buffer = [0; 16 << 10];
    loop {
        let count = record.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        sums.block(&buffer[..count]);
        sums.body(&buffer[..count]);
    }
    if let Some(expected) = block {
        expected.compare([sums.block, None], &mut counts, found);
    }
    match payload {
        // Its payload is elsewhere; that it was left off must be said.
        Some(expected) if is_revisit => {
            let is_there = expected.is_one_of([sums.body, sums.payload]);
            let is_told = head
                .field("WARC-Truncated")
                .is_some_and(|reason| reason.eq_ignore_ascii_case("length"));
            if 0 < head.content_length && is_identical_digest(&head) && !is_there && !is_told {
                let message = "WARC-Truncated does not say `length`, and the payload was left off";
                // Few writers do.
                found.push(Finding::warning("6.7.2", message));
            }
        }
        Some(expected) => expected.compare([sums.body, sums.payload], &mut counts, found),
        None => {}
    }
    Ok(counts)
}

/// A field that holds a digest.
struct DigestField {
    name: &'static str,
    clause: &'static str,
}

const BLOCK: DigestField = DigestField {
    name: "WARC-Block-Digest",
    clause: "5.8",
};
const PAYLOAD: DigestField = DigestField {
    name: "WARC-Payload-Digest",
    clause: "5.9",
};

/// A digest that a record names and that can be computed.
struct Expected {
    field: &'static DigestField,
    text: String,
    algorithm: Algorithm,
}

impl Expected {
    fn of(
        head: &RecordHead,
        field: &'static DigestField,
        counts: &mut Counts,
        found: &mut Vec<Finding>,
    ) -> Option<Self> {
        let text = head.field(field.name)?;
        let Some(algorithm) = Algorithm::of(text) else {
            counts.unknown += 1;
            return None;
        };
        let expected = Self {
            field,
            text: text.to_owned(),
            algorithm,
        };
        if value_of(text).is_none() {
            expected.wrong("is of another length than its algorithm makes", found);
            return None;
        }
        Some(expected)
    }

    fn digester(&self) -> Digester {
        Digester::new(self.algorithm)
    }

    /// Tools disagree whether a payload has its chunks, so one of the digests must be the expected one.
    fn is_one_of(&self, found: [Option<Digester>; 2]) -> bool {
        let mut texts = found.into_iter().flatten().map(Digester::finish);
        texts.any(|text| is_same(&self.text, &text))
    }

    fn compare(
        &self,
        digesters: [Option<Digester>; 2],
        counts: &mut Counts,
        found: &mut Vec<Finding>,
    ) {
        if self.is_one_of(digesters) {
            counts.right += 1;
        } else {
            self.wrong("is wrong", found);
        }
    }

    fn wrong(&self, how: &str, found: &mut Vec<Finding>) {
        let message = format!("{} {how}: {}", self.field.name, clipped(&self.text));
        found.push(Finding::problem(self.field.clause, message));
    }
}

/// Digests of a record that is being read.
struct Sums {
    block: Option<Digester>,
    /// What follows the HTTP head, as sent.
    body: Option<Digester>,
    /// The same without chunks.
    payload: Option<Digester>,
    chunks: ChunkDecoder,
}

impl Sums {
    fn block(&mut self, bytes: &[u8]) {
        if let Some(digester) = &mut self.block {
            digester.update(bytes);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(digester) = &mut self.body {
            digester.update(bytes);
        }
        if let Some(digester) = &mut self.payload {
            self.chunks
                .take_apart(bytes, |piece| digester.update(piece));
        }
    }
}
