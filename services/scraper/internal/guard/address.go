// Package guard decides which addresses the scraper may connect to, and connects
// only to those. The decision is made on the resolved address at the moment of the
// dial, so that neither a redirect nor a second answer of a name server gets around it.
package guard

import "net/netip"

// special are the blocks of IANA's special-purpose registries that are not the
// public internet, and what clouds keep for themselves beside them. Of IPv6 only
// those inside 2000::/3 are named: nothing outside of it is let through.
func special() []netip.Prefix {
	return parseAll(
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private use
		"100.64.0.0/10",    // shared address space of carriers
		"127.0.0.0/8",      // loopback
		"169.254.0.0/16",   // link local: cloud metadata
		"172.16.0.0/12",    // private use
		"192.0.0.0/24",     // IETF protocol assignments
		"192.0.2.0/24",     // documentation
		"192.31.196.0/24",  // AS112
		"192.52.193.0/24",  // automatic multicast tunnelling
		"192.88.99.0/24",   // 6to4 relays
		"192.168.0.0/16",   // private use
		"192.175.48.0/24",  // AS112
		"198.18.0.0/15",    // benchmarking
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and the broadcast address
		"168.63.129.16/32", // the platform's address on every Azure machine

		"2001::/23",         // IETF protocol assignments: Teredo, ORCHID, benchmarking
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4, which embeds any IPv4 address
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)
}

func parseAll(blocks ...string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(blocks))
	for i, block := range blocks {
		prefixes[i] = netip.MustParsePrefix(block)
	}
	return prefixes
}

// public reports whether addr is an address of the public internet that none of
// the refused blocks holds.
func public(addr netip.Addr, refused []netip.Prefix) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if addr.Is6() && !globalUnicast6().Contains(addr) {
		return false
	}
	for _, block := range refused {
		if block.Contains(addr) {
			return false
		}
	}
	return true
}

// globalUnicast6 is the only block from which IANA gives out IPv6 addresses. Mapped
// and compatible IPv4, NAT64, unique local, link local and multicast lie outside.
func globalUnicast6() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3)
}
