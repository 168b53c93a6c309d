//! An order alone, without ring and clock: one page after another, as the admission policy hands them out.
//!
//! No crawl goes like this, and the engine cannot be made to: it books a visit when the one before it starts, so each page is chosen before the links of the page before it
//! have come in. Here they have. That is the order of the papers, and what orders are compared by.

use super::discovery::Discovery;
use super::{Run, Ticker, Trial};
use crate::policy::Setup;

pub(super) fn crawl(trial: &Trial<'_>, setup: &Setup, progress: &mut dyn FnMut(u64)) -> Run {
    let mut run = Run::default();
    let mut ticker = Ticker { sink: progress };
    let mut discovery = Discovery::new(trial, setup, &mut run);
    while !run.is_over(trial) {
        let Some(visit) = discovery.next(&mut run) else {
            break;
        };
        discovery.take_in_links(visit, &mut run);
        discovery.release(visit.page);
        run.visited(visit.page, discovery.len());
        ticker.at(run.order.len());
    }
    run
}
