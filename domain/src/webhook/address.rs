//! Addresses that a webhook may be sent to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// Azure's platform address: globally assigned, but reachable from inside a virtual network only.
const AZURE_PLATFORM: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Returns true if an address is on the public internet, so that a stranger may name it as a receiver.
///
/// Not public are loopback, private, shared, link-local (with the clouds' metadata services) and multicast addresses.
/// Nor are documentation, benchmarking, reserved and unspecified ones, and the IPv6 forms that carry such an IPv4
/// address. Source: IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890).
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns true if a host name may be public: it has a dot and is not in a zone of local names.
///
/// A public name can still resolve to an address that is not: see [`is_public`].
pub fn is_public_name(name: &str) -> bool {
    // A dot at the end only makes the name absolute (RFC 1034, section 3.1).
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let Some((_, zone)) = name.rsplit_once('.') else { return false };
    let local_zones =
        ["localhost", "local", "internal", "localdomain", "lan", "intranet", "corp", "home", "private"];
    !local_zones.contains(&zone) && !name.ends_with(".home.arpa")
}

/// Returns the host of a URL, with its port unless that is the default one.
pub fn receiver_of(url: &str) -> String {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or(url);
    let port = parsed.as_ref().and_then(Url::port).map(|port| format!(":{port}"));
    format!("{host}{}", port.unwrap_or_default())
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_special = match (first, second, third) {
        // This network, private, loopback, multicast and reserved with the broadcast address.
        (0 | 10 | 127 | 224..=255, _, _) => true,
        // Shared by carriers (RFC 6598).
        (100, 64..=127, _) => true,
        // Link-local, with the metadata services.
        (169, 254, _) => true,
        (172, 16..=31, _) | (192, 168, _) => true,
        // Protocol assignments, documentation, the former 6to4 relays.
        (192, 0, 0 | 2) | (192, 88, 99) => true,
        // Benchmarking, then documentation again.
        (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => true,
        _ => false,
    };
    !is_special && address != AZURE_PLATFORM
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(address) = carried_v4(address) {
        return is_public_v4(address);
    }
    match address.segments() {
        // Protocol assignments with Teredo (2001::/23), and documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] => false,
        // 6to4: its relays are gone, and any address may be inside.
        [0x2002, ..] => false,
        // Documentation (RFC 9637).
        [0x3fff, 0..=0x0fff, ..] => false,
        // Only 2000::/3 is assigned for global use.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

/// Returns the IPv4 address inside a mapped address (::ffff:0:0/96) or one of NAT64 (64:ff9b::/96, RFC 6052).
fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = address.octets();
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x0064, 0xff9b, 0, 0, 0, 0, _, _] => Some(Ipv4Addr::new(a, b, c, d)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of addresses at the edges of ranges: first and last inside, neighbours outside.
    fn check(public: bool, addresses: &str) {
        for text in addresses.split_whitespace() {
            assert_eq!(is_public(text.parse().unwrap()), public, "{text}");
        }
    }

    #[test]
    fn a_receiver_is_a_host_and_a_port_that_is_not_the_usual_one() {
        for (url, receiver) in [
            ("https://loja.example/a?b=c", "loja.example"),
            ("http://127.0.0.1:8090/", "127.0.0.1:8090"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(receiver_of(url), receiver);
        }
    }

    #[test]
    fn special_ranges_of_ipv4_end_where_the_registry_says() {
        check(false, "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 127.0.0.1 127.255.255.255");
        check(true, "1.0.0.0 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0");
        check(
            false,
            "100.64.0.0 100.100.100.200 100.127.255.255 169.254.0.0 169.254.169.254 169.254.255.255",
        );
        check(true, "100.63.255.255 100.128.0.0 169.253.255.255 169.255.0.0");
        check(
            false,
            "172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 192.0.0.0 192.0.0.192 192.0.2.255",
        );
        check(true, "172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 192.0.1.0 192.0.3.0");
        check(false, "192.88.99.1 198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.7 168.63.129.16");
        check(
            true,
            "192.88.98.1 198.17.255.255 198.20.0.0 198.51.101.0 203.0.112.255 203.0.114.0 168.63.129.17",
        );
        check(false, "224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255");
        check(true, "223.255.255.255 8.8.8.8");
    }

    #[test]
    fn only_global_unicast_of_ipv6_is_public() {
        check(
            false,
            ":: ::1 ::2 ::127.0.0.1 100::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1 1fff::1",
        );
        check(
            true,
            "2001:4860:4860::8888 2606:4700::1111 2000::1 3ffe::1 2001:200::1 2001:db7::1 2001:db9::1",
        );
        check(
            false,
            "2001::1 2001:1ff::1 2001:db8::1 2002:0a00:0001::1 2002:0808:0808::1 3fff::1 3fff:fff::1",
        );
        check(true, "3fff:1000::1 2003::1");
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_address_counts() {
        check(
            false,
            "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8",
        );
        check(true, "::ffff:8.8.8.8 64:ff9b::8.8.8.8");
    }

    #[test]
    fn names_of_local_zones_are_not_public() {
        for name in [
            "localhost",
            "a.localhost",
            "LOCALHOST.",
            "nas.local",
            "x.Internal",
            "db",
            "db.",
            "",
            ".",
            "a.home.arpa",
        ] {
            assert!(!is_public_name(name), "{name}");
        }
        for name in ["example.com", "example.com.", "localhost.example.com", "internal.com.br", "arpa.com"] {
            assert!(is_public_name(name), "{name}");
        }
    }
}
