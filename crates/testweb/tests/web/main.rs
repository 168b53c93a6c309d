//! The web as its clients see it: DNS, HTTP/1.1, HTTP/2 and TLS over real sockets, and the judge's reading of the log.

#[cfg(test)]
mod history;
#[cfg(test)]
mod misbehaviours;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod politeness;
#[cfg(test)]
mod secure;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod support;
