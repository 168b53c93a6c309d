//! A focused crawl: what pages said comes in, and the crawl ends when enough is known, or all is collected.

use std::time::Duration;

use junkai_frontier::Time;

use super::Engine;
use crate::CrawlError;
use crate::focus::{Aim, Came, Evidence, FileSaid, FocusOrder, FoundFile, Page};
use crate::visit::{EndedVisit, Fate, Purpose, timestamp_of};

/// How long a focused crawl that has nothing else to do waits for visits that were deferred.
const PATIENCE: Duration = Duration::from_mins(10);

impl Engine {
    /// Takes in what a page or a file said, and writes it down; its visit is acknowledged afterwards.
    pub(super) fn take_in_what_was_said(
        &mut self,
        ended: &mut EndedVisit,
    ) -> Result<(), CrawlError> {
        let said = ended.said.take().unwrap_or_default();
        let is_fetched = ended.fate == Fate::Done && 0 < ended.outcome.status;
        if ended.visit.purpose != Purpose::Page || !is_fetched || self.focus_books.is_none() {
            return Ok(());
        }
        if let Some(file) = &said.file {
            self.note_file(ended, file)?;
        }
        let page = &ended.visit.url;
        let (Some(order), Some(books)) = (self.room.focus(), &mut self.focus_books) else {
            return Ok(());
        };
        match order {
            FocusOrder::Exploring(exploring) => {
                if exploring.observe(Page::of(page), said.probability) {
                    books.note_evidence(&Evidence {
                        url: page.as_str().to_owned(),
                        site: page.site().to_owned(),
                        at: timestamp_of(ended.ended),
                        status: ended.outcome.status,
                        depth: ended.visit.depth,
                        probability: said.probability,
                        clues: said.clues,
                    })?;
                }
                self.shared.progress.focus_fetches.set(exploring.fetches());
                self.shared
                    .progress
                    .focus_sites
                    .set(exploring.sites() as u64);
            }
            FocusOrder::Collecting(collecting) => {
                let came = match &said.file {
                    // Whether it is listed is for the catalogue to say; that it is where it was looked for shows the way to others.
                    Some(file) if file.refused.is_none() => Came::DataFile(&file.names),
                    None if said.probability.is_some() => Came::Page(&ended.links),
                    Some(_) | None => Came::Nothing,
                };
                collecting.fetched(page, came);
                self.shared.progress.focus_fetches.add(1);
                self.shared
                    .progress
                    .focus_sites
                    .set(collecting.sites() as u64);
            }
        }
        Ok(())
    }

    fn note_file(&mut self, ended: &EndedVisit, file: &FileSaid) -> Result<(), CrawlError> {
        let visit = &ended.visit;
        let estimate = visit.link_estimate.as_deref().cloned().unwrap_or_default();
        let found = FoundFile {
            url: visit.url.as_str().to_owned(),
            site: visit.url.site().to_owned(),
            page: visit.via.to_string(),
            link_text: estimate.context.text,
            beside: estimate.context.beside,
            at: timestamp_of(ended.ended),
            format: file.format,
            probability: Some(file.probability),
            refused: file.refused.clone(),
        };
        if self.shared.settings.focus.file_probability_min <= file.probability {
            self.shared.progress.focus_files.add(1);
        }
        match &mut self.focus_books {
            Some(books) => books.note_file(&found),
            None => Ok(()),
        }
    }

    /// How many pages a focused crawl may still fetch; none if that is not bounded.
    pub(super) fn fetches_left(&self) -> Option<u64> {
        match (self.room.focus_shown()?, &self.shared.settings.focus.aim) {
            (FocusOrder::Exploring(exploring), Aim::Explore { fetches }) => {
                Some(exploring.fetches_left(*fetches))
            }
            _ => None,
        }
    }

    /// Whether a focused crawl has fetched as many pages as it may.
    #[must_use]
    pub fn is_budget_spent(&self) -> bool {
        self.fetches_left() == Some(0)
    }

    /// Whether a focused crawl has nothing more to learn, or to collect.
    pub fn is_goal_reached(&mut self, now: Time) -> bool {
        if self.focus_books.is_none() {
            return false;
        }
        let spilled = self.room.stats().spilled;
        let due = self.room.backlog().next_due();
        let comes_up = due.is_some_and(|due| due <= now + PATIENCE);
        let is_idle = self.dispatch.is_idle();
        let Some(order) = self.room.focus_shown() else {
            return false;
        };
        let is_reached = match order {
            // As long as a page may come up, a site that has no other left, or did not answer, is not done with.
            FocusOrder::Exploring(exploring) => {
                let has_more = 0 < spilled || comes_up;
                let is_kept_waiting = comes_up && exploring.has_asked_in_vain();
                let is_done = 0 < order.len() || !has_more;
                exploring.is_settled() && is_done && !is_kept_waiting
            }
            FocusOrder::Collecting(collecting) => {
                let has_more = (0 < spilled && collecting.has_room()) || comes_up;
                collecting.is_finished() && !has_more
            }
        };
        is_idle && is_reached
    }

    /// Notes the data files that collecting met in the archive, where a crawl without focus had brought them.
    pub(super) fn note_files_met(&mut self) -> Result<(), CrawlError> {
        if let (Some(FocusOrder::Collecting(collecting)), Some(books)) =
            (self.room.focus(), &mut self.focus_books)
        {
            for file in collecting.take_met() {
                books.note_file(&file)?;
            }
        }
        Ok(())
    }

    /// Shows how many sites there are to collect from, before the first visit.
    pub(super) fn show_wanted_sites(&self) {
        if let Some(FocusOrder::Collecting(collecting)) = self.room.focus_shown() {
            self.shared
                .progress
                .focus_sites
                .set(collecting.sites() as u64);
        }
    }

    /// Lets the scope reach around the sites that are collected: links of others may have led to them.
    pub(super) fn reach_wanted_sites(&mut self) {
        let starts = match self.room.focus_shown() {
            Some(FocusOrder::Collecting(collecting)) => collecting.starts(),
            Some(FocusOrder::Exploring(_)) | None => return,
        };
        for start in starts {
            self.widen_scope(&start);
        }
    }

    /// Saves what collecting has learned.
    pub(super) fn save_experience(&self) -> Result<(), CrawlError> {
        match self.room.focus_shown() {
            Some(FocusOrder::Collecting(collecting)) => {
                collecting.learned().save(self.archive.path())
            }
            _ => Ok(()),
        }
    }
}
