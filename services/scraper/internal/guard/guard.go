package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/fathom-research/fathom/platform/fault"
)

// Options are what an operator may change of the rules.
type Options struct {
	// Allow lists host:port pairs that are let through whatever they resolve to. The
	// host may be a block of addresses, for instance "10.1.0.0/16:443".
	Allow []string
	// Deny lists further blocks of addresses that are refused, for instance a
	// cluster's own ranges.
	Deny []string
	// DialTimeout bounds one dial, the lookup of the name included; 10 s when zero.
	DialTimeout time.Duration
	// Resolver looks names up; the system's when nil.
	Resolver *net.Resolver
}

// Guard connects to the public internet and to what was allowed by name. It is
// safe for concurrent use.
type Guard struct {
	refused []netip.Prefix
	allowed map[string]bool
	ranges  []allowedRange
	open    net.Dialer
	guarded net.Dialer
}

type allowedRange struct {
	block netip.Prefix
	port  string
}

// New makes a Guard. Its error names every entry that can't be read.
func New(opts Options) (*Guard, error) {
	g := &Guard{refused: special(), allowed: make(map[string]bool)}
	var mistakes []error
	for _, entry := range opts.Allow {
		mistakes = append(mistakes, g.allow(entry))
	}
	for _, entry := range opts.Deny {
		mistakes = append(mistakes, g.deny(entry))
	}
	if opts.DialTimeout == 0 {
		opts.DialTimeout = 10 * time.Second
	}
	g.open = net.Dialer{Timeout: opts.DialTimeout, KeepAlive: 30 * time.Second, Resolver: opts.Resolver}
	g.guarded = g.open
	g.guarded.ControlContext = g.control
	return g, errors.Join(mistakes...)
}

func (g *Guard) allow(entry string) error {
	host, port, err := net.SplitHostPort(entry)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("%q is not host:port", entry)
	}
	if strings.Contains(host, "/") {
		block, err := netip.ParsePrefix(host)
		if err != nil {
			return fmt.Errorf("%q is not a block of addresses and a port", entry)
		}
		g.ranges = append(g.ranges, allowedRange{block: block.Masked(), port: port})
		return nil
	}
	g.allowed[net.JoinHostPort(canonical(host), port)] = true
	return nil
}

func (g *Guard) deny(entry string) error {
	block, err := netip.ParsePrefix(entry)
	if err == nil {
		g.refused = append(g.refused, block.Masked())
		return nil
	}
	addr, err := netip.ParseAddr(entry)
	if err != nil {
		return fmt.Errorf("%q is neither an address nor a block of addresses", entry)
	}
	g.refused = append(g.refused, netip.PrefixFrom(addr, addr.BitLen()))
	return nil
}

// Allowed reports whether host:port was let through by name or, for an address, by
// its block.
func (g *Guard) Allowed(authority string) bool {
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		return false
	}
	host = canonical(host)
	if g.allowed[net.JoinHostPort(host, port)] {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && g.inRange(addr, port)
}

// CheckURL refuses, before anything is sent, what no dial could make right: a
// scheme other than http and https, a port that is neither usual nor allowed, and an
// address that is written out. Names are decided at the dial.
func (g *Guard) CheckURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fault.Permanent(fault.RefusedAddress, "scheme %q is not fetched", u.Scheme)
	}
	if u.Hostname() == "" {
		return fault.Permanent(fault.RefusedAddress, "the address has no host")
	}
	return g.check(Authority(u))
}

// Authority is the host:port that u is fetched from.
func Authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(canonical(u.Hostname()), port)
}

func (g *Guard) check(authority string) error {
	if g.Allowed(authority) {
		return nil
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		return fault.Permanent(fault.RefusedAddress, "%q is not host:port", authority)
	}
	// A block of addresses may be allowed on another port, which a name shows only
	// once it is resolved.
	if port != "80" && port != "443" && !g.portInRanges(port) {
		return fault.Permanent(fault.RefusedAddress, "port %s is not fetched", port)
	}
	addr, err := netip.ParseAddr(host)
	if err == nil && !public(addr, g.refused) {
		return refusedAddress(host)
	}
	return nil
}

// DialContext connects like net.Dialer, to allowed hosts and public addresses only.
// Each address that a name resolves to is checked right before it is connected to,
// and that very address is.
func (g *Guard) DialContext(ctx context.Context, network, authority string) (net.Conn, error) {
	err := g.check(authority)
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(authority)
	if g.allowed[net.JoinHostPort(canonical(host), port)] {
		return g.open.DialContext(ctx, network, authority)
	}
	return g.guarded.DialContext(ctx, network, authority)
}

func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return fault.Permanent(fault.RefusedAddress, "network %q is not fetched from", network)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fault.Permanent(fault.RefusedAddress, "address %q can't be read", address)
	}
	_, port, _ := net.SplitHostPort(address)
	if g.inRange(target.Addr(), port) {
		return nil
	}
	if port != "80" && port != "443" {
		return fault.Permanent(fault.RefusedAddress, "port %s is not fetched", port)
	}
	if !public(target.Addr(), g.refused) {
		return refusedAddress(target.Addr().String())
	}
	return nil
}

func (g *Guard) inRange(addr netip.Addr, port string) bool {
	for _, r := range g.ranges {
		if r.port == port && r.block.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}

func (g *Guard) portInRanges(port string) bool {
	for _, r := range g.ranges {
		if r.port == port {
			return true
		}
	}
	return false
}

func refusedAddress(host string) error {
	return fault.Permanent(fault.RefusedAddress, "%s is not an address of the public internet", host)
}

// canonical is the form in which hosts are compared. Go's resolver and the URL
// standard both ignore case and one trailing dot.
func canonical(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	if err == nil {
		return addr.Unmap().String()
	}
	return host
}
