//! Which addresses belong to the world, as the registries of special-purpose addresses have it. Knows
//! numbers only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of version 4 that are somebody's own, reserved, or for many at once.
const OWN_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The one block of version 6 that is handed out to the world.
const WORLD_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What of it is not.
const OWN_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Where a network of version 6 shows the world of version 4: the last four bytes are the address.
const TRANSLATED: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Whether an address can be reached from anywhere in the world: none of a host's own, of a private
/// network, of a link, of a provider's inner network, reserved, or for many at once.
pub fn globally_routable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => world_v4(address),
        IpAddr::V6(address) if within(address, TRANSLATED) => {
            let [.., a, b, c, d] = address.octets();
            world_v4(Ipv4Addr::new(a, b, c, d))
        }
        IpAddr::V6(address) => within(address, WORLD_V6) && !OWN_V6.iter().any(|block| within(address, *block)),
    }
}

fn world_v4(address: Ipv4Addr) -> bool {
    !OWN_V4.iter().any(|(block, length)| {
        let shift = u32::BITS - length;
        address.to_bits() >> shift == block.to_bits() >> shift
    })
}

fn within(address: Ipv6Addr, (block, length): (Ipv6Addr, u32)) -> bool {
    let shift = u128::BITS - length;
    address.to_bits() >> shift == block.to_bits() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_told_from_everybodys_own() {
        let check = |text: &str, world: bool| {
            assert_eq!(globally_routable(text.parse().unwrap()), world, "{text}");
        };
        for own in [
            "127.0.0.1",
            "127.255.255.255",
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "100::1",
        ] {
            check(own, false);
        }
        for world in [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::8.8.8.8",
        ] {
            check(world, true);
        }
    }
}
