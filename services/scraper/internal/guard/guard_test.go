package guard

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/guard/guardtest"
)

const (
	waitFor = 5 * time.Second
	tick    = 50 * time.Millisecond
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	refused := append(special(), netip.MustParsePrefix("93.184.0.0/16"))
	for _, address := range []string{
		"0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1",
		"192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
		"240.0.0.1", "255.255.255.255", "168.63.129.16", "93.184.216.34",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "64:ff9b::0808:0808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
		"2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:c0a8:101::1", "3fff::1", "5f00::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1",
	} {
		require.False(t, public(netip.MustParseAddr(address), refused), address)
	}
	for _, address := range []string{
		"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "198.17.255.255",
		"198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1",
	} {
		require.True(t, public(netip.MustParseAddr(address), refused), address)
	}
	require.False(t, public(netip.Addr{}, refused))
}

func TestURLsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	g := newGuard(t, Options{Allow: []string{"wiki.example:8080", "10.1.0.0/16:9000", "[fd00::/8]:443"}})
	for _, address := range []string{
		"file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "javascript:alert(1)", "data:text/html,x", "//example.org",
		"http:///a", "http://example.org:22/", "http://example.org:8080/", "https://example.org:0/",
		"http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data/",
		"http://[64:ff9b::7f00:1]/", "http://[fe80::1%25eth0]/", "http://127.0.0.1./", "http://10.2.0.1:9000/",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err, address)
		require.Equal(t, fault.RefusedAddress, fault.As(g.CheckURL(u)).Code, address)
	}
	for _, address := range []string{
		"http://example.org/", "https://example.org:443/", "http://1.1.1.1/", "http://WIKI.example.:8080/", "http://10.1.2.3:9000/", "https://[fd12::1]/",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err, address)
		require.NoError(t, g.CheckURL(u), address)
	}
}

// Names and odd spellings of addresses are decided by what they resolve to. The
// listener proves that nothing arrived.
func TestDialReachesNothingPrivate(t *testing.T) {
	t.Parallel()
	port, arrived := listen(t)
	g := newGuard(t, Options{Resolver: guardtest.Resolver(t, "127.0.0.1")})
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0", "0.0.0.0", "[::]", "[::1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "LOCALHOST.", "localhost.localdomain", "rebound.example",
		"１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "127.0.0.1\x00.example.org",
	} {
		for _, p := range []string{port, "80", "443"} {
			connection, err := g.DialContext(t.Context(), "tcp", strings.Trim(host, "[]")+":"+p)
			if strings.HasPrefix(host, "[") {
				connection, err = g.DialContext(t.Context(), "tcp", host+":"+p)
			}
			require.Error(t, err, host)
			require.Nil(t, connection, host)
		}
	}
	require.Zero(t, arrived.Load())
}

func TestAllowedHostsAreDialled(t *testing.T) {
	t.Parallel()
	port, arrived := listen(t)
	for _, entry := range []string{"127.0.0.1:" + port, "127.0.0.0/8:" + port} {
		g := newGuard(t, Options{Allow: []string{entry}})
		connection, err := g.DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		require.NoError(t, err)
		require.NoError(t, connection.Close())
	}
	named := newGuard(t, Options{Allow: []string{"wiki.example:" + port}, Resolver: guardtest.Resolver(t, "127.0.0.1")})
	connection, err := named.DialContext(t.Context(), "tcp", "wiki.example:"+port)
	require.NoError(t, err)
	require.NoError(t, connection.Close())
	// The name is allowed, not what it resolves to.
	_, err = named.DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	require.Equal(t, fault.RefusedAddress, fault.As(err).Code)
	require.Eventually(t, func() bool { return arrived.Load() == 3 }, waitFor, tick)
}

// A name server that answers with a public address first and a private one at the
// dial gains nothing, since there is only one lookup.
func TestRebindingIsRefused(t *testing.T) {
	t.Parallel()
	port, arrived := listen(t)
	g := newGuard(t, Options{Allow: []string{"192.0.2.0/24:" + port}, Resolver: guardtest.Resolver(t, "192.0.2.1", "127.0.0.1")})
	u, err := url.Parse("http://rebound.example:" + port + "/")
	require.NoError(t, err)
	require.NoError(t, g.CheckURL(u))
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), tick)
		_, err = g.DialContext(ctx, "tcp", "rebound.example:"+port)
		cancel()
		require.Error(t, err)
	}
	require.Zero(t, arrived.Load())
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Allow: []string{"nohost", ":80", "10.0.0.0/99:80"}, Deny: []string{"example.org", "10.0.0.0/8", "1.2.3.4"}})
	require.ErrorContains(t, err, `"nohost"`)
	require.ErrorContains(t, err, `":80"`)
	require.ErrorContains(t, err, `"10.0.0.0/99:80"`)
	require.ErrorContains(t, err, `"example.org"`)
	require.NotContains(t, err.Error(), "1.2.3.4")
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"http://127.0.0.1/", "http://[::ffff:7f00:1]/", "http://0x7f.1/", "http://a:b@c:80/", "https://[64:ff9b::1]:443/"} {
		f.Add(seed)
	}
	g, err := New(Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, address string) {
		u, err := url.Parse(address)
		if err != nil || g.CheckURL(u) != nil {
			return
		}
		require.Contains(t, []string{"http", "https"}, u.Scheme)
		host, port, err := net.SplitHostPort(Authority(u))
		require.NoError(t, err)
		require.Contains(t, []string{"80", "443"}, port)
		written, err := netip.ParseAddr(host)
		if err != nil {
			return
		}
		require.True(t, public(written, special()))
		require.NoError(t, g.control(t.Context(), "tcp", net.JoinHostPort(host, port), nil))
	})
}

func FuzzPublic(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add(netip.MustParseAddr("2002:7f00:1::").AsSlice())
	f.Fuzz(func(t *testing.T, raw []byte) {
		addr, ok := netip.AddrFromSlice(raw)
		if !ok || !public(addr, special()) {
			return
		}
		plain := addr.Unmap()
		require.False(t, plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified())
	})
}

func newGuard(t *testing.T, opts Options) *Guard {
	t.Helper()
	g, err := New(opts)
	require.NoError(t, err)
	return g
}

// listen counts the connections that arrive at a loopback port.
func listen(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	arrived := new(atomic.Int32)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			arrived.Add(1)
			_ = connection.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port, arrived
}
