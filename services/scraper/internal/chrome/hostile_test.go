package chrome

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/guard/guardtest"
)

// Every way out of a page that is known, all of them to loopback addresses in many
// spellings. The listeners prove that nothing arrived on any.
func TestNoPageReachesPrivateAddresses(t *testing.T) {
	t.Parallel()
	private := newTrap(t)
	hosts := []string{"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.1.", "foo.localhost", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::80ff:fffe]"}
	var page strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&page, everyWay, host+":"+private.port)
	}
	site := newHostileSite(t, page.String(), private.port)
	c := newChrome(t, nil, site)
	answer, err := c.Get(t.Context(), site+"/")
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), "all ways were tried")
	require.NotContains(t, string(answer.Body), "secret of the private network")
	var ways sync.WaitGroup
	for _, way := range []string{"redirect", "script", "meta", "form", "file", "popup", "download"} {
		ways.Go(func() {
			answer, err := c.Get(t.Context(), site+"/"+way)
			if err == nil {
				require.NotContains(t, string(answer.Body), "root:", way)
			}
		})
	}
	ways.Wait()
	require.Empty(t, private.seen())
}

// A name that points to a public address first and to a private one later, or to a
// private one at once, leads a page nowhere: the proxy connects to what it checked.
func TestNamesDoNotLeadToPrivateAddresses(t *testing.T) {
	t.Parallel()
	private := newTrap(t)
	const tries = `<p>` + enough + `<script>
		const ask = (n) => n ? fetch("http://rebound.example:%[1]s/again?" + n, { mode: "no-cors" }).catch(() => {}).then(() => ask(n - 1)) : document.body.append("all was tried");
		ask(8); new WebSocket("ws://rebound.example:%[1]s/socket"); new Image().src = "https://rebound.example:%[1]s/image";
		const f = document.createElement("iframe"); f.src = "http://rebound.example:%[1]s/frame"; document.body.append(f)</script>`
	site := serve(t, fmt.Sprintf(tries, private.port), nil)
	c := newChrome(t, func(o *Options) {
		o.Proxy = startProxy(t, guard.Options{
			// The block takes the part of the public internet: the port is not what refuses.
			Allow:    append(hostsOf(t, []string{site}), "192.0.2.0/24:"+private.port),
			Resolver: guardtest.Resolver(t, "192.0.2.1", "127.0.0.1", "127.0.0.1", "10.0.0.1"),
		})
	})
	answer, err := c.Get(t.Context(), site+"/")
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), "enough text")
	_, err = c.Get(t.Context(), "http://rebound.example:"+private.port+"/")
	require.Error(t, err)
	require.Empty(t, private.seen())
}

// The ways are ways: where the proxy lets the same address through, they arrive.
func TestTheTrapSeesWhatIsLetThrough(t *testing.T) {
	t.Parallel()
	private := newTrap(t)
	open := "127.0.0.1:" + private.port
	site := newHostileSite(t, fmt.Sprintf(everyWay, open), private.port)
	_, err := newChrome(t, nil, site, "http://"+open).Get(t.Context(), site+"/")
	require.NoError(t, err)
	arrived := strings.Join(private.seen(), "\n")
	for _, way := range []string{
		"/iframe", "/script", "/css", "/import", "/fetch", "/xhr", "/worker", "/shared", "/events", "/object", "/target", "/service",
		"/socket", "/workersocket", "/prefetch", "/preload", "/module", "/dataframe",
	} {
		require.Contains(t, arrived, "GET "+way+" ")
	}
	datagram, err := net.Dial("udp", open)
	require.NoError(t, err)
	_, err = datagram.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, datagram.Close())
	require.Eventually(t, func() bool { return strings.Contains(strings.Join(private.seen(), "\n"), "udp: 1 bytes") }, 5*time.Second, 10*time.Millisecond)
	// What no text comes from is not even asked for.
	for _, way := range []string{"/img", "/font", "/background", "udp:"} {
		require.NotContains(t, arrived, way)
	}
}

// everyWay is tried for one host and port.
const everyWay = `
<img src="http://%[1]s/img"><iframe src="http://%[1]s/iframe"></iframe><object data="http://%[1]s/object"></object>
<embed src="http://%[1]s/embed"><video src="http://%[1]s/video" preload=auto></video><audio src="http://%[1]s/audio" preload=auto></audio>
<script src="http://%[1]s/script"></script><link rel=stylesheet href="http://%[1]s/css"><link rel=prefetch href="http://%[1]s/prefetch">
<link rel=preload as=fetch href="http://%[1]s/preload"><link rel=preconnect href="http://%[1]s"><link rel=dns-prefetch href="//%[1]s">
<link rel=prerender href="http://%[1]s/prerender"><link rel=modulepreload href="http://%[1]s/module"><link rel=manifest href="http://%[1]s/manifest">
<link rel=icon href="http://%[1]s/icon"><style>@import "http://%[1]s/import"; @font-face { font-family: f; src: url("http://%[1]s/font") } p { font-family: f }</style>
<div style="background: url(http://%[1]s/background)">x</div><svg><use href="http://%[1]s/use#a"/><image href="http://%[1]s/image"/></svg>
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://%[1]s/speculation"]}],"prerender":[{"source":"list","urls":["http://%[1]s/speculation2"]}]}</script>
<script>
(() => {
  const at = "%[1]s", ignore = () => {};
  fetch("http://" + at + "/fetch", { mode: "no-cors" }).catch(ignore);
  fetch("http://" + at + "/post", { mode: "no-cors", method: "POST", body: "x", keepalive: true }).catch(ignore);
  try { const x = new XMLHttpRequest(); x.open("GET", "http://" + at + "/xhr"); x.send(); } catch {}
  try { navigator.sendBeacon("http://" + at + "/beacon", "x"); } catch {}
  try { new WebSocket("ws://" + at + "/socket"); } catch {}
  try { new EventSource("http://" + at + "/events"); } catch {}
  try { new Worker(URL.createObjectURL(new Blob(["fetch('http://" + at + "/worker',{mode:'no-cors'}).catch(()=>{}); try { new WebSocket('ws://" + at + "/workersocket') } catch {}"]))); } catch {}
  try { new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://" + at + "/shared',{mode:'no-cors'}).catch(()=>{})"]))); } catch {}
  try { new WebTransport("https://" + at + "/transport").ready.catch(ignore); } catch {}
  try { window.open("http://" + at + "/open"); } catch {}
  try {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:" + at }, { urls: "turn:" + at + "?transport=tcp", username: "a", credential: "b" }, { urls: "turn:" + at, username: "a", credential: "b" }] });
    peer.createDataChannel("x");
    peer.createOffer().then(o => peer.setLocalDescription(o)).catch(ignore);
  } catch {}
  const frame = document.createElement("iframe");
  frame.src = "data:text/html,<script>fetch('http://" + at + "/dataframe',{mode:'no-cors'})<\/script>";
  document.documentElement.append(frame);
  const popup = document.createElement("a");
  popup.href = "http://" + at + "/blank"; popup.target = "_blank"; document.documentElement.append(popup); popup.click();
  const ping = document.createElement("a");
  ping.href = "#here"; ping.ping = "http://" + at + "/ping"; document.documentElement.append(ping); ping.click();
})();
</script>`

func newHostileSite(t *testing.T, ways, port string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		target := "http://127.0.0.1:" + port + "/target"
		switch r.URL.Path {
		case "/":
			w.Header().Set("Link", "<"+target+">; rel=preload; as=style")
			// A service worker needs a secure origin, and loopback is one.
			_, _ = io.WriteString(w, "<!doctype html><body><p>all ways were tried"+strings.Repeat(" and so on", 150)+"</p>"+ways+
				"<script>navigator.serviceWorker.register('/sw.js').catch(() => {})</script>"+
				"<iframe src='file:///etc/passwd'></iframe><iframe src='/redirect'></iframe>")
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintf(w, "fetch(%q, {mode: 'no-cors'}).catch(() => {})", "http://127.0.0.1:"+port+"/service")
		case "/redirect":
			http.Redirect(w, r, target, http.StatusFound)
		case "/script":
			_, _ = fmt.Fprintf(w, "<script>location = %q</script>", target)
		case "/meta":
			_, _ = fmt.Fprintf(w, `<meta http-equiv=refresh content="0;url=%s">`, target)
		case "/form":
			_, _ = fmt.Fprintf(w, `<form action=%q method=post><input name=a></form><script>document.forms[0].submit()</script>`, target)
		case "/file":
			_, _ = io.WriteString(w, `<script>location = "file:///etc/passwd"</script>`)
		case "/popup":
			_, _ = fmt.Fprintf(w, `<a id=a href=%q target=_blank>x</a><script>a.click(); a.dispatchEvent(new MouseEvent("click"))</script>`, target)
		case "/download":
			_, _ = fmt.Fprintf(w, `<a id=a href=%q download=x>x</a><script>a.click()</script>`, target)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// trap listens on one port of every loopback address, for connections and datagrams.
type trap struct {
	port string
	mu   sync.Mutex
	got  []string
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	first, err := net.Listen("tcp4", "0.0.0.0:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(first.Addr().String())
	require.NoError(t, err)
	p := &trap{port: port}
	datagrams, err := net.ListenPacket("udp4", "0.0.0.0:"+port)
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() { p.accept(first) })
	running.Go(func() { p.receive(datagrams) })
	closers := []io.Closer{first, datagrams}
	// Machines without IPv6 have nothing that could arrive over it.
	second, err := net.Listen("tcp6", "[::1]:"+port)
	if err == nil {
		running.Go(func() { p.accept(second) })
		closers = append(closers, second)
	}
	t.Cleanup(func() {
		for _, closer := range closers {
			_ = closer.Close()
		}
		running.Wait()
	})
	return p
}

func (p *trap) accept(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		_ = connection.SetDeadline(time.Now().Add(time.Second))
		request := make([]byte, 200)
		n, _ := connection.Read(request)
		_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 29\r\n\r\nsecret of the private network")
		_ = connection.Close()
		p.note("tcp: " + string(request[:n]))
	}
}

func (p *trap) receive(datagrams net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		n, _, err := datagrams.ReadFrom(buffer)
		if err != nil {
			return
		}
		p.note(fmt.Sprintf("udp: %d bytes", n))
	}
}

func (p *trap) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, what)
}

func (p *trap) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.got...)
}
