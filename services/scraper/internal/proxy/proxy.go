// Package proxy is a forward proxy that connects only where its dial function
// does. It is how a browser, whose own rules can't be relied on, is kept from
// private addresses: all of its traffic goes through here.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

// Options are the bounds of a Proxy.
type Options struct {
	// Dial connects to host:port, or refuses to.
	Dial func(ctx context.Context, network, authority string) (net.Conn, error)
	// Check, when set, may refuse a host before it is dialled.
	Check func(u *url.URL) error
	// MaxBytes bounds what one connection, or one answer over plain HTTP, brings in.
	MaxBytes int64
	Logger   *slog.Logger
}

// Proxy serves CONNECT and plain HTTP, upgrades included.
type Proxy struct {
	opts      Options
	blocked   map[string]bool
	transport *http.Transport
	forward   *httputil.ReverseProxy
	upstream  connections
}

// New makes a Proxy.
func New(opts Options) *Proxy {
	p := &Proxy{opts: opts, blocked: trackers()}
	p.transport = &http.Transport{
		DialContext:            p.dial,
		DisableCompression:     true,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: 256 << 10,
	}
	p.forward = &httputil.ReverseProxy{
		Transport:      p.transport,
		FlushInterval:  -1,
		Rewrite:        rewrite,
		ModifyResponse: p.bound,
		ErrorHandler:   p.refuse,
		ErrorLog:       slog.NewLogLogger(opts.Logger.Handler(), slog.LevelDebug),
	}
	return p
}

// Serve answers on the listener until ctx ends, and then closes every connection
// that goes through it.
func (p *Proxy) Serve(ctx context.Context, listener net.Listener) error {
	downstream := &connections{}
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    256 << 10,
		ErrorLog:          slog.NewLogLogger(p.opts.Logger.Handler(), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		_ = server.Close()
		downstream.close()
		p.upstream.close()
		p.transport.CloseIdleConnections()
	}()
	err := server.Serve(tracked{Listener: listener, open: downstream})
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		p.upstream.wait()
		return nil
	}
	return fmt.Errorf("serve the filtering proxy: %w", err)
}

// ServeHTTP forwards one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "only absolute http addresses are forwarded", http.StatusBadRequest)
		return
	}
	err := p.check(r.URL)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	p.forward.ServeHTTP(w, r)
}

// check refuses trackers, which no text comes from, and what Options.Check does.
func (p *Proxy) check(u *url.URL) error {
	if p.isTracker(u.Hostname()) {
		return fault.Permanent(fault.RefusedAddress, "%s is a tracker", u.Hostname())
	}
	if p.opts.Check == nil {
		return nil
	}
	return p.opts.Check(u)
}

func (p *Proxy) dial(ctx context.Context, network, authority string) (net.Conn, error) {
	connection, err := p.opts.Dial(ctx, network, authority)
	if err != nil {
		return nil, err
	}
	return p.upstream.track(connection), nil
}

// refuse tells the client whether this proxy refused, or the server can't be reached.
func (p *Proxy) refuse(w http.ResponseWriter, _ *http.Request, err error) {
	failure := fault.As(err)
	if failure.Code == fault.RefusedAddress {
		w.Header().Set(fetch.RefusedHeader, failure.Message)
		http.Error(w, failure.Message, http.StatusForbidden)
		return
	}
	http.Error(w, "the server can't be reached", http.StatusBadGateway)
}

func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL = r.In.URL
	r.Out.Host = r.In.URL.Host
	r.Out.Header.Del("Proxy-Authorization")
}

// bound makes an answer end at the limit. No server can speak in the proxy's name.
func (p *Proxy) bound(answer *http.Response) error {
	answer.Header.Del(fetch.RefusedHeader)
	if answer.StatusCode != http.StatusSwitchingProtocols {
		answer.Body = &boundedBody{ReadCloser: answer.Body, left: p.opts.MaxBytes}
	}
	return nil
}

var errTooMuch = errors.New("the limit of bytes is reached")

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	return n, err
}
