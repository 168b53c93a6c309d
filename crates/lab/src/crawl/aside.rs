//! Pages that found no room in memory: on disk in the crawler, in queues by grade here.

use std::collections::VecDeque;

use junkai_frontier::admission::{grade_of, worth_of};
use junkai_graph::Page;

/// Queues of pages, one for each grade of worth.
#[derive(Debug)]
pub(super) struct Aside {
    lanes: Vec<VecDeque<Page>>,
}

/// A page that comes back, with its worth as far as the grade tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Returning {
    pub(super) page: Page,
    pub(super) worth: f32,
}

impl Aside {
    pub(super) fn new() -> Aside {
        Aside {
            lanes: vec![VecDeque::new(); usize::from(u8::MAX) + 1],
        }
    }

    pub(super) fn put(&mut self, page: Page, worth: f32) {
        self.lanes[usize::from(grade_of(worth))].push_back(page);
    }

    /// The page of the best grade that came first.
    pub(super) fn next(&mut self) -> Option<Returning> {
        for (grade, lane) in (0..=u8::MAX).zip(&mut self.lanes).rev() {
            if let Some(page) = lane.pop_front() {
                let worth = worth_of(grade);
                return Some(Returning { page, worth });
            }
        }
        None
    }
}
