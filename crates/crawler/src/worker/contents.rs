//! What pages say, where that has to be read for the sake of a comparison: now, or from the archive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use junkai_archive::{digest, digest_bytes};
use junkai_fetch::Exchange;
use junkai_page::content::{self, Content};
use junkai_revisit::Digest;

use super::Worker;
use crate::visit::Visit;

/// Bytes of an earlier capture that is read for the sake of its content, at most: the change of a larger page counts, whatever it is.
const EARLIER_BYTES_MAX: usize = 8 << 20;

/// Whether these are the very bytes of the last visit: then the content is known, too.
pub(super) fn has_known_payload(visit: &Visit, payload_digest: Option<&str>) -> bool {
    let digest = payload_digest.and_then(digest_bytes);
    let digest = digest.and_then(|bytes| Digest::new(&bytes));
    let known = visit.known_version();
    known.is_some_and(|known| digest.is_some_and(|digest| digest.is_same(&known.digest)))
}

impl Worker {
    /// Bytes of a body without codings that are read at most.
    pub(super) fn decoded_max(&self) -> usize {
        let limit = self.shared.settings.fetch.max_decoded_bytes.as_u64();
        usize::try_from(limit).unwrap_or(usize::MAX)
    }

    /// The digest of what came for a known page, which is to be compared; of other pages nobody wants it before they are stored.
    pub(super) fn payload_digest(&self, visit: &Visit, exchange: &Exchange) -> Option<String> {
        let algorithm = self.shared.settings.archive.digest;
        let version = visit.known_version();
        version.map(|_| digest(algorithm, exchange.payload()))
    }

    /// Reads what a known page said before, if other bytes have come and nobody has: from the archive, on a thread beside this one.
    pub(super) async fn read_earlier(&self, visit: &mut Visit, exchange: &Exchange) {
        let is_page = exchange.status() == Some(200) && exchange.location().is_none();
        let version = visit.known_version().filter(|_| is_page);
        let Some(version) = version.filter(|version| version.unread.is_some()) else {
            return;
        };
        let _turn = self.shared.unread.turn().await;
        let (url, version) = (visit.url.clone(), version.clone());
        let unread = Arc::clone(&self.shared.unread);
        let read = move || unread.page(&url, &version, EARLIER_BYTES_MAX);
        let Ok(Some(page)) = tokio::task::spawn_blocking(read).await else {
            return;
        };
        let content = page.content(&mut self.boilerplate.borrow_mut(), &visit.url);
        if let Some(version) = visit.known_version_mut() {
            version.content = content;
        }
    }

    /// What a page says. A parser that panics finds nothing.
    pub(super) fn content(&self, visit: &Visit, exchange: &Exchange) -> Option<Content> {
        let decoded = exchange.decoded(self.decoded_max());
        let content_type = exchange
            .header("content-type")
            .and_then(|value| str::from_utf8(value).ok());
        let read = AssertUnwindSafe(|| {
            let boilerplate = &mut self.boilerplate.borrow_mut();
            content::of(
                boilerplate,
                &decoded.bytes,
                content_type,
                visit.url.as_url(),
            )
        });
        catch_unwind(read).ok().flatten()
    }
}
