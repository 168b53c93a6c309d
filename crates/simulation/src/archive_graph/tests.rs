//! Archives made by hand, and what becomes of them.

mod damage;
mod exported;
mod links;
mod made;
mod order;
mod real;
mod revisits;
