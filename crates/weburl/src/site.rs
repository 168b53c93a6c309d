//! Who is responsible for a host: the registrable domain, by the public suffix list.
//!
//! The list (publicsuffix.org) is compiled in; how fresh it is, the version of the `psl` crate says.

use std::net::Ipv4Addr;

/// The site of a host: its registrable domain, or the host itself where there is none.
///
/// `www.example.co.uk` is of the site `example.co.uk`. Private suffixes count: each `NAME.github.io` is a site of its own. An
/// address, a single label and a bare suffix (`co.uk`) are their own sites. The host is expected as a canonical URL has it:
/// lower case, punycode.
#[must_use]
pub fn site_of(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    if is_address(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// Whether the host of a URL is an IP address, not a name.
pub(crate) fn is_address(host: &str) -> bool {
    let ends_as_address = host.ends_with(|last: char| last.is_ascii_digit() || last == ']');
    ends_as_address && (host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_suffix_list_decides() {
        for (host, site) in [
            ("example.org", "example.org"),
            ("www.example.org", "example.org"),
            ("www.example.org.", "example.org"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            // Wildcard (*.kawasaki.jp) and exception (!city.kawasaki.jp) rules.
            ("www.city.kawasaki.jp", "city.kawasaki.jp"),
            ("x.y.z.kawasaki.jp", "y.z.kawasaki.jp"),
            ("www.pref.hokkaido.jp", "pref.hokkaido.jp"),
            // Private suffixes.
            ("a.github.io", "a.github.io"),
            ("x.a.github.io", "a.github.io"),
            // IDN in punycode.
            ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
            ("www.example.unlisted", "example.unlisted"),
        ] {
            assert_eq!(site_of(host), site, "{host}");
        }
    }

    #[test]
    fn a_host_without_a_registrable_domain_is_its_own_site() {
        for host in [
            "localhost",
            "co.uk",
            "github.io",
            "com",
            "127.0.0.1",
            "[2001:db8::1]",
            "",
        ] {
            assert_eq!(site_of(host), host);
        }
    }
}
