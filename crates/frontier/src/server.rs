//! Which servers must share one pace: an address becomes a server key.
//!
//! The key indexes the tables of the ring and of the leases, so its range bounds their memory. Two servers that fall on one
//! key share one pace: that costs speed, never politeness.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A server's place in the tables of the frontier: its address, hashed into `0..keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerKey(u32);

impl ServerKey {
    /// The key with this number; the lab numbers its servers itself.
    #[must_use]
    pub const fn new(number: u32) -> ServerKey {
        ServerKey(number)
    }

    /// The number, for logs and for state on disk.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number, as an index into a table.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The key of the server at `address`, in `0..keys`.
///
/// An IPv6 server is its /64 network, because whoever has one address of it has them all; an IPv4 address written as
/// IPv6 (`::ffff:192.0.2.1`) is that IPv4 address. A name with several addresses must always give the same one: by
/// convention the numerically smallest.
///
/// # Panics
/// If `keys` is zero.
#[must_use]
pub fn server_key(address: IpAddr, keys: u32) -> ServerKey {
    match address.to_canonical() {
        IpAddr::V4(address) => key_of(&address.octets(), keys),
        IpAddr::V6(address) => key_of(&address.octets()[..8], keys),
    }
}

/// The key of a host that has no address: its visits fail, but at a polite pace and without pressing on others' turns.
///
/// # Panics
/// If `keys` is zero.
#[must_use]
pub fn unresolved_host_key(host: &str, keys: u32) -> ServerKey {
    key_of(host.as_bytes(), keys)
}

/// Hashes before reducing: the low bytes of addresses are far from uniform.
fn key_of(bytes: &[u8], keys: u32) -> ServerKey {
    assert!(0 < keys, "there must be at least one server key");
    let remainder = xxh3_64(bytes) % u64::from(keys);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a remainder of division by a u32"
    )]
    ServerKey(remainder as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: u32 = 65_536;

    fn key(address: &str) -> ServerKey {
        server_key(address.parse().unwrap(), KEYS)
    }

    #[test]
    fn one_ipv6_network_is_one_server() {
        assert_eq!(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::9"));
        assert_ne!(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
    }

    #[test]
    fn an_ipv4_address_in_ipv6_clothes_is_the_same_server() {
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
    }

    #[test]
    fn keys_stay_in_range_and_spread_over_it() {
        let keys = 64;
        let mut servers_per_key = [0_u32; 64];
        for last in 0..=255 {
            for third in 0..16 {
                let key = server_key(IpAddr::from([127, 0, third, last]), keys);
                servers_per_key[key.index()] += 1;
            }
        }
        // 4096 addresses over 64 keys: 64 each, give or take five standard deviations.
        assert!(
            servers_per_key
                .iter()
                .all(|count| (24..=104).contains(count)),
            "{servers_per_key:?}"
        );
    }

    #[test]
    fn the_keys_are_stable_because_they_are_stored() {
        assert_eq!(key("192.0.2.1"), ServerKey::new(56_394));
        assert_eq!(
            unresolved_host_key("www.example.org", KEYS),
            ServerKey::new(14_930)
        );
    }
}
