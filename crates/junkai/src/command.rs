//! The subcommands, one file each: `Arguments` says what it takes, `run` does it.

pub(crate) mod add;
pub(crate) mod changes;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod focus;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod links;
pub(crate) mod pause;
pub(crate) mod plan;
pub(crate) mod revisit;
pub(crate) mod robots;
pub(crate) mod scope;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod testweb;
pub(crate) mod url;
pub(crate) mod warc;
pub(crate) mod what_if;
