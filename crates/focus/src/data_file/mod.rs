//! What is inside a data file, found out within bounds.
