//! A web graph: pages, links and hosts, read from files or generated, and measured.
