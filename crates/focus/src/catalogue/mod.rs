//! What was collected, as a list for people and programs, and the search over it.
