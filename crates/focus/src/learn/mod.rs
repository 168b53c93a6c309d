//! What is wanted, learned from labelled examples.
