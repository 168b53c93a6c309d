//! What the planner knows of sites and servers, as bytes, so that it outlives a stop.
//!
//! ```text
//! format (1 byte) · sites (length, bytes) · servers and price (length, bytes)
//! ```
//!
//! Whoever stores the bytes checks them by a checksum; what is read is bounded and sound at any rate. The states of pages
//! are not here: the time queue holds them.

use super::Planner;
use crate::codec::{Reader, put_bytes};
use crate::sites::Sites;

const FORMAT: u8 = 2;

/// Bytes of a part, at most: far above what the largest tables need.
const PART_BYTES_MAX: usize = 1 << 32;

/// What was saved cannot be taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Another release wrote it.
    #[error("the planner's state is of another format ({format})")]
    UnknownFormat {
        /// Its first byte.
        format: u8,
    },
    /// It is not whole.
    #[error("the planner's state is damaged: {part} cannot be read")]
    Damaged {
        /// What cannot be read.
        part: &'static str,
    },
}

impl Planner {
    /// All that is known of sites and servers: at most about 150 bytes for each site and 40 for each server.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = vec![FORMAT];
        let mut part = Vec::new();
        self.sites.encode_into(&mut part);
        put_bytes(&mut out, &part);
        part.clear();
        self.agenda.encode(&mut part);
        put_bytes(&mut out, &part);
        out
    }

    /// Takes up what was saved; the settings stay those that the planner was made with.
    ///
    /// # Errors
    /// If the bytes are damaged or of another format; the planner is then as it was.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), RestoreError> {
        let damaged = |part| RestoreError::Damaged { part };
        let mut reader = Reader::new(saved);
        match reader.byte() {
            Some(FORMAT) => {}
            Some(format) => return Err(RestoreError::UnknownFormat { format }),
            None => return Err(damaged("the format")),
        }
        let sites = reader.bytes(PART_BYTES_MAX).ok_or(damaged("sites"))?;
        let agenda = reader.bytes(PART_BYTES_MAX).ok_or(damaged("servers"))?;
        let mut sites = Reader::new(sites);
        let mut agenda = Reader::new(agenda);
        let restored_sites = Sites::read(&mut sites, self.config.sites_max)
            .filter(|_| sites.is_at_end())
            .ok_or(damaged("sites"))?;
        let mut restored_agenda = self.agenda.clone();
        restored_agenda
            .decode(&mut agenda)
            .filter(|()| agenda.is_at_end() && reader.is_at_end())
            .ok_or(damaged("servers"))?;
        self.sites = restored_sites;
        self.agenda = restored_agenda;
        Ok(())
    }
}
