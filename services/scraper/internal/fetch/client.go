// Package fetch reads a document over plain HTTP, within bounds of time and size
// that no server can talk it out of.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/fathom-research/fathom/platform/fault"
)

// Options are the bounds of a Client; all are required but Proxy.
type Options struct {
	// Dial connects to host:port. It is where private addresses are refused.
	Dial func(ctx context.Context, network, authority string) (net.Conn, error)
	// Proxy, when set, is the filtering proxy that connects instead of Dial.
	Proxy *url.URL
	// Check may refuse a URL before it is requested: the first and every redirect's.
	Check     func(u *url.URL) error
	UserAgent string
	// Language is the value of Accept-Language.
	Language string
	// Timeout bounds one Get from its first dial to its last byte, however slowly
	// these come.
	Timeout time.Duration
	// MaxBytes bounds the decoded body.
	MaxBytes int64
	// Truncate makes a longer body end there, instead of failing.
	Truncate bool
}

// Client reads documents. It is safe for concurrent use, and keeps connections.
type Client struct {
	opts      Options
	transport *http.Transport
}

// Response is a whole answer of a server, whatever its status.
type Response struct {
	// FinalURL is where the redirects led.
	FinalURL string
	Status   int
	Header   http.Header
	// Body is decoded from its content encoding.
	Body []byte
}

// NotAPage is returned by a browser for a document that it would only download.
type NotAPage struct{ ContentType string }

func (e *NotAPage) Error() string {
	return fmt.Sprintf("type %q is not shown by a browser", e.ContentType)
}

const (
	maxRedirects   = 10
	maxHeaderBytes = 256 << 10
	// maxErrorBytes bounds the body of an answer that is not a success: it is only
	// looked at for a bot wall.
	maxErrorBytes = 512 << 10
)

// New makes a Client. Close ends its idle connections.
func New(opts Options) *Client {
	transport := &http.Transport{
		DialContext:            opts.Dial,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // encodings beyond gzip are decoded here, within bounds
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  opts.Timeout,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if opts.Proxy != nil {
		transport.Proxy = http.ProxyURL(opts.Proxy)
		transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
		transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			return proxyRefusal(answer.Header)
		}
	}
	return &Client{opts: opts, transport: transport}
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Get requests address, follows its redirects with the cookies that they set, and
// returns the answer. Its errors are *fault.Error, or those of ctx.
func (c *Client) Get(ctx context.Context, address string) (*Response, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Permanent(fault.RefusedAddress, "the address can't be read: %v", err)
	}
	err = c.opts.Check(u)
	if err != nil {
		return nil, err
	}
	// A user name in a link would be sent to the server as if it were ours.
	u.User = nil
	work, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	answer, err := c.do(work, u)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), ctx.Err())
	}
	return answer, err
}

func (c *Client) do(ctx context.Context, u *url.URL) (*Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fault.Permanent(fault.RefusedAddress, "the address can't be requested: %v", err)
	}
	c.setHeaders(request.Header)
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil, fmt.Errorf("make a cookie jar: %w", err)
	}
	client := &http.Client{Transport: c.transport, Jar: jar, CheckRedirect: c.checkRedirect}
	answer, err := client.Do(request)
	if err != nil {
		return nil, classify(err)
	}
	defer answer.Body.Close()
	err = proxyRefusal(answer.Header)
	if err != nil && c.opts.Proxy != nil {
		return nil, err
	}
	return c.read(answer)
}

func (c *Client) read(answer *http.Response) (*Response, error) {
	limit := c.opts.MaxBytes
	succeeded := answer.StatusCode/100 == 2
	if !succeeded {
		limit = min(limit, maxErrorBytes)
	}
	response := &Response{FinalURL: answer.Request.URL.String(), Status: answer.StatusCode, Header: answer.Header}
	if succeeded {
		err := refuseMedia(answer.Header.Get("Content-Type"))
		if err != nil {
			return nil, err
		}
	}
	body, err := decode(answer.Body, answer.Header.Values("Content-Encoding"), limit)
	switch {
	case err == nil:
	case !succeeded:
		// What an error page says is only a hint.
	case errors.Is(err, errTooLarge) && c.opts.Truncate:
	case errors.Is(err, errTooLarge):
		return nil, fault.Permanent(fault.TooLarge, "the document is larger than %d bytes", limit)
	default:
		return nil, classify(err)
	}
	response.Body = body
	return response, nil
}

func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fault.Permanent(fault.Unavailable, "more than %d redirects", maxRedirects)
	}
	next.URL.User = nil
	return c.opts.Check(next.URL)
}

func (c *Client) setHeaders(header http.Header) {
	header.Set("User-Agent", c.opts.UserAgent)
	header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.9,*/*;q=0.8")
	header.Set("Accept-Language", c.opts.Language)
	header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	header.Set("Upgrade-Insecure-Requests", "1")
	header.Set("Sec-Fetch-Dest", "document")
	header.Set("Sec-Fetch-Mode", "navigate")
	header.Set("Sec-Fetch-Site", "none")
	header.Set("Sec-Fetch-User", "?1")
}

// classify turns an error of net/http into the failure it stands for.
func classify(err error) error {
	var known *fault.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var unknownHost x509.HostnameError
	var network net.Error
	err = unwrapURL(err)
	switch {
	case errors.As(err, &known):
		return fault.As(err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fault.Permanent(fault.Unavailable, "there is no host of this name: %w", err)
	case errors.As(err, &certificate), errors.As(err, &unknownHost):
		return fault.Permanent(fault.Unavailable, "the certificate is not valid: %w", err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fault.Transient(fault.TimedOut, "the server is too slow: %w", err)
	default:
		return fault.Transient(fault.Unavailable, "the connection failed: %w", err)
	}
}

// Dropped reports whether err is a connection that was cut without an answer, which
// is how some bot walls greet what is not a browser.
func Dropped(err error) bool {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	text := err.Error()
	return errors.Is(err, syscall.ECONNRESET) || strings.HasSuffix(text, "EOF") ||
		strings.Contains(text, "stream error") || strings.Contains(text, "remote error: tls")
}

// unwrapURL drops the method and the address that net/http puts before its errors:
// whoever reads the failure has the address.
func unwrapURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
