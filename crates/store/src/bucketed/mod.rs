//! What the two bucketed queues share: [`backlog`](crate::backlog) and [`time_queue`](crate::time_queue).
//!
//! Both keep numbered files that are only appended to ([`Series`]), whose beginning says what they are ([`header`]); both are opened after any kind of end with a
//! manifest that may be a little old ([`Tails`], [`Repairs`]), and remove a file only when no manifest can name it any more ([`Retired`]).
//!
//! Not here: what is in the files. The backlog's lengths name each file, because entries are acknowledged in a log of their own; the time queue's name the journal, which
//! says how far every other file counts.

pub(crate) mod header;
mod repairs;
mod retired;
mod series;
mod tails;

pub(crate) use repairs::Repairs;
pub(crate) use retired::Retired;
pub(crate) use series::Series;
pub(crate) use tails::Tails;
