//! The backlog against a naive one.
