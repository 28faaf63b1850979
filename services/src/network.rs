//! Networks of addresses that one person may have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the network that counts as one address.
pub fn network_of(address: IpAddr) -> IpAddr {
    // A person with one IPv6 address has all 2^64 of its network.
    networks_of(address).one
}

/// Networks around an address that one person may have, each within the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Networks {
    /// Unit that counts as one address: an IPv4 address, or an IPv6 network of 64 bits.
    pub one: IpAddr,
    /// Assignment of a home or an office: 56 bits of IPv6 (RFC 6177, section 2). IPv4 has none.
    pub site: Option<IpAddr>,
    /// Assignment of a large site: 48 bits of IPv6, 24 of IPv4.
    pub large: IpAddr,
}

/// Returns the networks around an address.
pub fn networks_of(address: IpAddr) -> Networks {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let first = |bits: u32| {
                let host = 128_u32.saturating_sub(bits);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> host << host))
            };
            Networks { one: first(64), site: Some(first(56)), large: first(48) }
        }
        IpAddr::V4(address) => {
            let large = IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() >> 8 << 8));
            Networks { one: IpAddr::V4(address), site: None, large }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, one: &str, site: Option<&str>, large: &str) {
        let parsed = |text: &str| text.parse::<IpAddr>().unwrap();
        let expected = Networks { one: parsed(one), site: site.map(parsed), large: parsed(large) };
        assert_eq!(networks_of(parsed(address)), expected, "{address}");
    }

    #[test]
    fn an_address_is_in_networks_of_which_one_person_may_have_all() {
        check("2001:db8:12:3456:789a::1", "2001:db8:12:3456::", Some("2001:db8:12:3400::"), "2001:db8:12::");
        check("203.0.113.77", "203.0.113.77", None, "203.0.113.0");
        check("::ffff:203.0.113.77", "203.0.113.77", None, "203.0.113.0");
    }
}
