//! Pages that found no room in memory: on disk in the crawler, in queues here, by the same classes of worth.

use std::collections::{BTreeMap, VecDeque};

use junkai_frontier::admission::{priority_byte, priority_of_byte};
use junkai_graph::Page;
use junkai_store::backlog::Class;

/// Queues of pages, one for each class.
#[derive(Debug, Default)]
pub(super) struct Spilled {
    lanes: BTreeMap<Class, VecDeque<Waiting>>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    page: Page,
    grade: u8,
}

/// A page that comes back, with its worth as far as the grade tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Returning {
    pub(super) page: Page,
    pub(super) worth: f32,
}

impl Spilled {
    pub(super) fn put(&mut self, page: Page, worth: f32) {
        let grade = priority_byte(worth);
        let lane = self.lanes.entry(Class::of(grade)).or_default();
        lane.push_back(Waiting { page, grade });
    }

    /// The page of the best class that came first.
    pub(super) fn next(&mut self) -> Option<Returning> {
        let mut lanes = self.lanes.values_mut().rev();
        let waiting = lanes.find_map(VecDeque::pop_front)?;
        Some(Returning {
            page: waiting.page,
            worth: priority_of_byte(waiting.grade),
        })
    }
}
