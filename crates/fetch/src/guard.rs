//! The address guard: says which addresses a crawler may connect to.
//!
//! A page can name any host, and a host's owner can give it any address. Without this check a
//! link could make the crawler fetch from the machine that it runs on, from the network behind it
//! or from a cloud's metadata service, and the archive would then show what was found there.
//! [`Resolver`](crate::Resolver) asks the guard about every answer, and
//! [`Client`](crate::Client) asks again about the very address that it connects to.
//!
//! The rule is "global unicast only", by the IANA special-purpose address registries (RFC 6890 and
//! its updates). An IPv6 address that carries an IPv4 address (mapped, compatible, NAT64, 6to4) is judged by
//! the address inside as well.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize};

/// Decides about addresses. Table `[addresses]`.
///
/// The default lets only public addresses pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AddressGuard {
    /// Lets loopback, private, link-local, shared and test addresses pass. Default false.
    ///
    /// For intranets and for the test web. Cloud metadata services, multicast and the unspecified
    /// address stay refused; `allow` lifts that.
    pub allow_private: bool,
    /// Networks and single addresses that pass whatever they are, such as `192.168.7.0/24` and `127.0.0.1`. Default none.
    #[serde(deserialize_with = "networks")]
    pub allow: Vec<IpNet>,
}

/// Reads a network, or an address as the network of that address alone.
///
/// # Errors
/// If it is neither.
pub fn network(text: &str) -> Result<IpNet, NotANetwork> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse::<IpNet>().or_else(|_| address());
    network.map_err(|_| NotANetwork {
        text: text.to_owned(),
    })
}

fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let networks = texts.iter().map(|text| network(text));
    networks
        .collect::<Result<_, _>>()
        .map_err(serde::de::Error::custom)
}

/// A text that is neither a network nor an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither an address nor a network such as 127.0.0.0/8")]
pub struct NotANetwork {
    /// The text.
    pub text: String,
}

impl AddressGuard {
    /// A guard that also lets private addresses pass, as for an intranet or the test web.
    #[must_use]
    pub fn allowing_private() -> Self {
        Self {
            allow_private: true,
            allow: Vec::new(),
        }
    }

    /// Says whether the crawler may connect to this address.
    ///
    /// # Errors
    /// What the address is, if it may not.
    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        let Some(kind) = AddressKind::of(address) else {
            return Ok(());
        };
        let let_through = self.allow_private && kind.is_merely_private();
        if let_through || self.allow.iter().any(|network| network.contains(&address)) {
            return Ok(());
        }
        Err(Refused { address, kind })
    }
}

/// An address that the guard did not let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address {address} is refused: {kind}")]
pub struct Refused {
    /// The address.
    pub address: IpAddr,
    /// Why it is not public.
    pub kind: AddressKind,
}

impl Refused {
    /// The smallest network that would have to be among [`AddressGuard::allow`] for the address to pass.
    #[must_use]
    pub fn network(&self) -> IpNet {
        IpNet::from(self.address)
    }
}

/// What makes an address other than a public one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// `0.0.0.0/8`, `::`: this host, or no address at all.
    Unspecified,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// RFC 1918 and `fc00::/7`.
    Private,
    /// `169.254.0.0/16`, `fe80::/10`, and the former site-local `fec0::/10`.
    LinkLocal,
    /// `100.64.0.0/10`: behind a provider's address translation.
    SharedNat,
    /// A cloud's metadata or host service.
    Metadata,
    /// Documentation and benchmarking networks.
    Documentation,
    /// Multicast and broadcast.
    Multicast,
    /// Anything else that the registries do not call globally reachable.
    Reserved,
}

impl AddressKind {
    /// What is special about an address, or `None` for a public one.
    #[must_use]
    pub fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Whether `allow_private` covers this kind.
    #[must_use]
    pub fn is_merely_private(self) -> bool {
        match self {
            Self::Loopback
            | Self::Private
            | Self::LinkLocal
            | Self::SharedNat
            | Self::Documentation => true,
            Self::Unspecified | Self::Metadata | Self::Multicast | Self::Reserved => false,
        }
    }
}

impl fmt::Display for AddressKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::SharedNat => "shared address space of a provider",
            Self::Metadata => "cloud metadata service",
            Self::Documentation => "documentation or benchmarking",
            Self::Multicast => "multicast or broadcast",
            Self::Reserved => "reserved",
        })
    }
}

/// Metadata and host services: AWS, Google, Azure and others; Alibaba; Oracle; Azure's host.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// The metadata services of AWS and of Google over IPv6.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

fn of_v4(address: Ipv4Addr) -> Option<AddressKind> {
    if METADATA_V4.contains(&address) {
        return Some(AddressKind::Metadata);
    }
    match address.octets() {
        [0, ..] => Some(AddressKind::Unspecified),
        [127, ..] => Some(AddressKind::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(AddressKind::Private),
        [169, 254, ..] => Some(AddressKind::LinkLocal),
        [100, 64..=127, ..] => Some(AddressKind::SharedNat),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [198, 18..=19, ..] => {
            Some(AddressKind::Documentation)
        }
        [224..=239, ..] | [255, 255, 255, 255] => Some(AddressKind::Multicast),
        // Protocol assignments, the former 6to4 relays, and the former class E.
        [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => Some(AddressKind::Reserved),
        _ => None,
    }
}

fn of_v6(address: Ipv6Addr) -> Option<AddressKind> {
    if METADATA_V6.contains(&address) {
        return Some(AddressKind::Metadata);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(AddressKind::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(AddressKind::Loopback),
        // IPv4-mapped, and NAT64 (RFC 6052): nothing but the address inside.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            of_v4(embedded(high, low))
        }
        // IPv4-compatible: deprecated, and so refused even around a public address.
        [0, 0, 0, 0, 0, 0, high, low] => {
            Some(of_v4(embedded(high, low)).unwrap_or(AddressKind::Reserved))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => of_v4(embedded(high, low)),
        [0xfc00..=0xfdff, ..] => Some(AddressKind::Private),
        [0xfe80..=0xfeff, ..] => Some(AddressKind::LinkLocal),
        [0xff00..=0xffff, ..] => Some(AddressKind::Multicast),
        [0x2001, 0xdb8, ..] | [0x2001, 2, 0, ..] | [0x3fff, 0..=0xfff, ..] => {
            Some(AddressKind::Documentation)
        }
        // Protocol assignments `2001::/23`, with Teredo and ORCHID among them.
        [0x2001, 0..=0x1ff, ..] => Some(AddressKind::Reserved),
        // All global unicast addresses that exist today are in `2000::/3`.
        [0x2000..=0x3fff, ..] => None,
        _ => Some(AddressKind::Reserved),
    }
}

/// The IPv4 address in two 16-bit pieces of an IPv6 address.
fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> Option<AddressKind> {
        AddressKind::of(text.parse().unwrap())
    }

    #[test]
    fn the_registries_are_followed() {
        use AddressKind::{
            Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, SharedNat,
            Unspecified,
        };
        let table = [
            ("8.8.8.8", None),
            ("9.255.255.255", None),
            ("10.0.0.0", Some(Private)),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.64.0.1", Some(SharedNat)),
            ("100.128.0.0", None),
            ("172.15.255.255", None),
            ("172.16.0.1", Some(Private)),
            ("172.31.255.255", Some(Private)),
            ("172.32.0.0", None),
            ("192.167.255.255", None),
            ("192.168.0.1", Some(Private)),
            ("169.254.0.1", Some(LinkLocal)),
            ("169.254.169.254", Some(Metadata)),
            ("100.100.100.200", Some(Metadata)),
            ("168.63.129.16", Some(Metadata)),
            ("127.8.9.1", Some(Loopback)),
            ("0.0.0.0", Some(Unspecified)),
            ("0.1.2.3", Some(Unspecified)),
            ("192.0.2.7", Some(Documentation)),
            ("198.18.0.1", Some(Documentation)),
            ("198.20.0.0", None),
            ("224.0.0.1", Some(Multicast)),
            ("255.255.255.255", Some(Multicast)),
            ("240.0.0.1", Some(Reserved)),
            ("192.88.99.1", Some(Reserved)),
            ("2606:4700::1111", None),
            ("2001:4860:4860::8888", None),
            ("::", Some(Unspecified)),
            ("::1", Some(Loopback)),
            ("::ffff:10.1.2.3", Some(Private)),
            ("::ffff:8.8.8.8", None),
            ("::127.0.0.1", Some(Loopback)),
            ("::8.8.8.8", Some(Reserved)),
            ("64:ff9b::192.168.0.1", Some(Private)),
            ("64:ff9b::8.8.8.8", None),
            ("64:ff9b:1::1", Some(Reserved)),
            ("2002:7f00:1::1", Some(Loopback)),
            ("2002:808:808::1", None),
            ("2001:0:102:304::1", Some(Reserved)),
            ("2001:db8::1", Some(Documentation)),
            ("3fff:fff::1", Some(Documentation)),
            ("fd00:ec2::254", Some(Metadata)),
            ("fd12::1", Some(Private)),
            ("fe80::1", Some(LinkLocal)),
            ("fec0::1", Some(LinkLocal)),
            ("ff02::1", Some(Multicast)),
            ("100::1", Some(Reserved)),
            ("5f00::1", Some(Reserved)),
            ("4000::1", Some(Reserved)),
        ];
        for (address, expected) in table {
            assert_eq!(kind(address), expected, "{address}");
        }
    }

    #[test]
    fn allowing_private_addresses_still_refuses_metadata_services() {
        let guard = AddressGuard::allowing_private();
        assert!(guard.check("127.0.0.1".parse().unwrap()).is_ok());
        assert!(guard.check("fd12::1".parse().unwrap()).is_ok());
        assert!(guard.check("169.254.169.254".parse().unwrap()).is_err());
        assert!(
            guard
                .check("::ffff:169.254.169.254".parse().unwrap())
                .is_err()
        );
        assert!(guard.check("0.0.0.0".parse().unwrap()).is_err());
    }

    #[test]
    fn an_allowed_network_passes_and_its_neighbour_does_not() {
        let guard = AddressGuard {
            allow: vec!["192.168.7.0/24".parse().unwrap()],
            ..AddressGuard::default()
        };
        assert!(guard.check("192.168.7.9".parse().unwrap()).is_ok());
        let refused = guard.check("192.168.8.9".parse().unwrap()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "address 192.168.8.9 is refused: private"
        );
    }

    #[test]
    fn what_is_said_to_let_an_address_pass_does() {
        for text in [
            "169.254.169.254",
            "fd00:ec2::254",
            "127.0.0.1",
            "10.1.2.3",
            "0.0.0.0",
            "224.0.0.1",
            "240.0.0.1",
            "::1",
            "::ffff:169.254.169.254",
        ] {
            let address: IpAddr = text.parse().unwrap();
            let refused = AddressGuard::default().check(address).unwrap_err();
            let named = AddressGuard {
                allow: vec![refused.network()],
                ..AddressGuard::default()
            };
            assert!(named.check(address).is_ok(), "{text}");
            let private = AddressGuard::allowing_private().check(address);
            assert_eq!(private.is_ok(), refused.kind.is_merely_private(), "{text}");
        }
    }

    #[test]
    fn a_single_address_is_the_network_of_itself() {
        let guard: AddressGuard =
            serde_json::from_str(r#"{"allow": ["127.0.0.1", "::1", "10.1.0.0/16"]}"#).unwrap();
        let networks: Vec<String> = guard.allow.iter().map(ToString::to_string).collect();
        assert_eq!(networks, ["127.0.0.1/32", "::1/128", "10.1.0.0/16"]);
        assert_eq!(guard.check("127.0.0.1".parse().unwrap()), Ok(()));
        assert!(guard.check("127.0.0.2".parse().unwrap()).is_err());
        let error = serde_json::from_str::<AddressGuard>(r#"{"allow": ["localhost"]}"#);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("\"localhost\" is neither"), "{error}");
    }

    proptest! {
        #[test]
        fn an_embedded_address_is_never_freer_than_the_address_itself(bits in any::<u32>()) {
            let plain = Ipv4Addr::from(bits);
            let inside = of_v4(plain);
            let [high, low] = [(bits >> 16) as u16, (bits & 0xffff) as u16];
            prop_assert_eq!(of_v6(plain.to_ipv6_mapped()), inside);
            prop_assert_eq!(of_v6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low)), inside);
            prop_assert_eq!(of_v6(Ipv6Addr::new(0x2002, high, low, 1, 2, 3, 4, 5)), inside);
        }
    }
}
