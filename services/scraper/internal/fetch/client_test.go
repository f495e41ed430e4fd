package fetch

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const text = "<p>The lighthouse was built in 1871."

func TestEncodings(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		encoding := strings.TrimPrefix(r.URL.Path, "/")
		w.Header().Set("Content-Encoding", strings.TrimSuffix(encoding, "-raw"))
		_, _ = w.Write(encode(encoding, []byte(text)))
	})
	client := newClient(t, nil)
	for _, encoding := range []string{"gzip", "br", "zstd", "deflate", "deflate-raw", "identity", "gzip, br", "x-gzip"} {
		answer, err := client.Get(t.Context(), server+"/"+url.PathEscape(encoding))
		require.NoError(t, err, encoding)
		require.Equal(t, text, string(answer.Body), encoding)
	}
	for _, encoding := range []string{"compress", "gzip, gzip, gzip"} {
		_, err := client.Get(t.Context(), server+"/"+url.PathEscape(encoding))
		require.Equal(t, fault.Unreadable, fault.As(err).Code, encoding)
	}
}

// Ten gigabytes of zeros are ten megabytes of gzip, and would be a few kilobytes of
// the newer encodings; none costs more than a page of the largest size does.
func TestBombsEndAtTheLimit(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		encoding := strings.TrimPrefix(r.URL.Path, "/")
		w.Header().Set("Content-Encoding", encoding)
		writer := encoder(encoding, w)
		zeros := make([]byte, 1<<20)
		for range 10 << 10 {
			_, err := writer.Write(zeros)
			if err != nil {
				return
			}
		}
	})
	client := newClient(t, nil)
	for _, encoding := range []string{"gzip", "br", "zstd", "identity"} {
		_, err := client.Get(t.Context(), server+"/"+encoding)
		require.Equal(t, fault.TooLarge, fault.As(err).Code, encoding)
	}
}

func TestEndlessRedirects(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		http.Redirect(w, r, fmt.Sprintf("/%d", n+1), http.StatusFound)
	})
	_, err := newClient(t, nil).Get(t.Context(), server+"/0")
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
	require.False(t, fault.As(err).Retryable)
	require.ErrorContains(t, err, "more than 10 redirects")
}

func TestCookiesLastForTheChainOnly(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("seen")
		switch {
		case r.URL.Path == "/peek" && err != nil:
			_, _ = io.WriteString(w, "no cookie")
		case err != nil:
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/"})
			http.Redirect(w, r, "/again", http.StatusFound)
		default:
			_, _ = io.WriteString(w, cookie.Value)
		}
	})
	client := newClient(t, nil)
	answer, err := client.Get(t.Context(), server+"/first")
	require.NoError(t, err)
	require.Equal(t, "yes", string(answer.Body))
	require.Equal(t, server+"/again", answer.FinalURL)
	answer, err = client.Get(t.Context(), server+"/peek")
	require.NoError(t, err)
	require.Equal(t, "no cookie", string(answer.Body))
}

// A server that sends a byte now and then, or a header without end, holds a slot no
// longer than the client's timeout.
func TestSlowDrip(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-ticker.C:
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	client := newClient(t, func(o *Options) { o.Timeout = 300 * time.Millisecond })
	for _, path := range []string{"/silent", "/drip"} {
		started := time.Now()
		_, err := client.Get(t.Context(), server+path)
		require.Equal(t, fault.TimedOut, fault.As(err).Code, path)
		require.True(t, fault.As(err).Retryable)
		require.Less(t, time.Since(started), 3*time.Second)
	}
}

func TestCallerIsHeard(t *testing.T) {
	t.Parallel()
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := newClient(t, nil).Get(ctx, server)
	require.ErrorIs(t, err, context.Canceled)
}

func TestHeaderWithoutEnd(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		_, err = io.WriteString(connection, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = io.WriteString(connection, "X-Filler: "+strings.Repeat("x", 4096)+"\r\n")
		}
	}()
	_, err = newClient(t, nil).Get(t.Context(), "http://"+listener.Addr().String())
	require.Error(t, err)
}

func TestMediaIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "video/mp4")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	_, err := newClient(t, nil).Get(t.Context(), server)
	require.Equal(t, fault.Unreadable, fault.As(err).Code)
	require.ErrorContains(t, err, "video/mp4")
}

func TestChecksEveryHopAndDropsCredentials(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/leave" {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
			return
		}
		_, _, sent := r.BasicAuth()
		_, _ = fmt.Fprint(w, sent)
	})
	client := newClient(t, func(o *Options) {
		o.Check = func(u *url.URL) error {
			if u.Hostname() != "127.0.0.1" {
				return fault.Permanent(fault.RefusedAddress, "not %s", u.Host)
			}
			return nil
		}
	})
	_, err := client.Get(t.Context(), server+"/leave")
	require.Equal(t, fault.RefusedAddress, fault.As(err).Code)
	answer, err := client.Get(t.Context(), strings.Replace(server, "http://", "http://me:secret@", 1)+"/")
	require.NoError(t, err)
	require.Equal(t, "false", string(answer.Body))
}

func TestHTTP2AndConnectionReuse(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s", r.Proto, r.RemoteAddr)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	client := newClient(t, nil)
	client.transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	first, err := client.Get(t.Context(), server.URL)
	require.NoError(t, err)
	require.Contains(t, string(first.Body), "HTTP/2.0")
	second, err := client.Get(t.Context(), server.URL)
	require.NoError(t, err)
	require.Equal(t, string(first.Body), string(second.Body))
}

func TestStatusFaults(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		code  fault.Code
		again bool
	}{
		204: {fault.Empty, false}, 401: {fault.Blocked, false}, 403: {fault.Blocked, false}, 404: {fault.NotFound, false},
		408: {fault.Unavailable, true}, 410: {fault.NotFound, false}, 429: {fault.RateLimited, true}, 451: {fault.Blocked, false},
		500: {fault.Unavailable, true}, 501: {fault.Unavailable, false}, 503: {fault.Unavailable, true}, 304: {fault.Unavailable, false},
	} {
		err := StatusFault(status, http.Header{"Retry-After": {"120"}})
		require.Equal(t, want.code, fault.As(err).Code, status)
		require.Equal(t, want.again, fault.As(err).Retryable, status)
		if want.again {
			require.Equal(t, 2*time.Minute, fault.As(err).RetryAfter, status)
		}
	}
	require.NoError(t, StatusFault(200, nil))
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "soon": 0, "99999999": maxRetryAfter, "99999999999999999999": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
}

func FuzzDecode(f *testing.F) {
	for _, encoding := range []string{"gzip", "br", "zstd", "deflate"} {
		f.Add(encode(encoding, []byte(text)), encoding)
	}
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		content, _ := decode(bytes.NewReader(body), []string{encoding}, 1<<16)
		require.LessOrEqual(t, len(content), 1<<16)
	})
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func newClient(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	options := Options{
		Dial:      (&net.Dialer{}).DialContext,
		Check:     func(*url.URL) error { return nil },
		UserAgent: "Fathom", Language: "en",
		Timeout: 20 * time.Second, MaxBytes: 1 << 20,
	}
	if change != nil {
		change(&options)
	}
	client := New(options)
	t.Cleanup(client.Close)
	return client
}

func encode(encoding string, content []byte) []byte {
	if first, second, nested := strings.Cut(encoding, ", "); nested {
		return encode(second, encode(first, content))
	}
	var out bytes.Buffer
	writer := encoder(encoding, &out)
	_, _ = writer.Write(content)
	if closer, ok := writer.(io.Closer); ok {
		_ = closer.Close()
	}
	return out.Bytes()
}

func encoder(encoding string, to io.Writer) io.Writer {
	switch encoding {
	case "gzip", "x-gzip":
		return gzip.NewWriter(to)
	case "br":
		return brotli.NewWriterLevel(to, 1)
	case "zstd":
		writer, _ := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		return writer
	case "deflate":
		return zlib.NewWriter(to)
	case "deflate-raw":
		writer, _ := flate.NewWriter(to, flate.BestSpeed)
		return writer
	default:
		return to
	}
}
