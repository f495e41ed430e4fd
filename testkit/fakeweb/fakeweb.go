// Package fakeweb is a small web for tests and benchmarks: SearXNG's JSON API in
// front of pages that say something about what was searched. Every query has hits;
// some pages are found by many queries.
package fakeweb

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options shape the web; the zero value answers at once and never fails.
type Options struct {
	// SearchLatency and PageLatency are how long an answer takes.
	SearchLatency time.Duration
	PageLatency   time.Duration
	// Sites is on how many loopback addresses the pages live; 1 when zero. A scraper
	// that is polite per site needs several to be fast. More than one needs a system
	// that answers on all of 127.0.0.0/8, as Linux does.
	Sites int
	// Handle, when set, may answer a request itself; it returns false to leave it.
	Handle func(w http.ResponseWriter, r *http.Request) bool
}

// Hits is how many hits a search has.
const Hits = 10

// Web is the running web. It is safe for concurrent use.
type Web struct {
	// SearchURL is what FATHOM_SEARXNG_URL is set to.
	SearchURL string
	// Hosts are the host:port of every site, for FATHOM_SCRAPER_ALLOW.
	Hosts []string
	opts  Options

	mu       sync.Mutex
	requests map[string]int
}

// Start starts a web that ends with the test.
func Start(t testing.TB, opts Options) *Web {
	t.Helper()
	web := &Web{opts: opts, requests: make(map[string]int)}
	listeners := listen(t, max(1, opts.Sites))
	for _, listener := range listeners {
		server := httptest.NewUnstartedServer(web)
		_ = server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		web.Hosts = append(web.Hosts, listener.Addr().String())
	}
	web.SearchURL = "http://" + web.Hosts[0]
	return web
}

// listen opens one port on several loopback addresses, trying another port when
// one of them has it in use.
func listen(t testing.TB, sites int) []net.Listener {
	t.Helper()
	for range 20 {
		listeners, err := listenOnce(sites)
		if err == nil {
			return listeners
		}
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}
	t.Fatalf("find a port that is free on %d loopback addresses", sites)
	return nil
}

func listenOnce(sites int) ([]net.Listener, error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listeners := []net.Listener{first}
	_, port, err := net.SplitHostPort(first.Addr().String())
	if err != nil {
		return listeners, err
	}
	for i := 1; i < sites; i++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:%s", i/250, i%250+1, port))
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, listener)
	}
	return listeners, nil
}

// Requests counts the requests so far for "search" and "page".
func (web *Web) Requests(what string) int {
	web.mu.Lock()
	defer web.mu.Unlock()
	return web.requests[what]
}

func (web *Web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if web.opts.Handle != nil && web.opts.Handle(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/search":
		web.count("search")
		if wait(r.Context(), web.opts.SearchLatency) {
			web.search(w, r)
		}
	case strings.HasPrefix(r.URL.Path, "/page/"):
		web.count("page")
		if wait(r.Context(), web.opts.PageLatency) {
			page(w, strings.TrimPrefix(r.URL.Path, "/page/"))
		}
	default:
		http.NotFound(w, r)
	}
}

func (web *Web) count(what string) {
	web.mu.Lock()
	defer web.mu.Unlock()
	web.requests[what]++
}

// search finds pages of the query's own; every tenth page is one of a few that all
// queries share.
func (web *Web) search(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	if query == "" {
		http.Error(w, "no query", http.StatusBadRequest)
		return
	}
	type result struct {
		URL     string   `json:"url"`
		Title   string   `json:"title"`
		Content string   `json:"content"`
		Engine  string   `json:"engine"`
		Engines []string `json:"engines"`
		Score   float64  `json:"score"`
	}
	results := []result{}
	if number, _ := strconv.Atoi(r.URL.Query().Get("pageno")); number <= 1 {
		for i := range Hits {
			name := fmt.Sprintf("%s-%d", url.PathEscape(strings.ReplaceAll(query, " ", "-")), i)
			if i == Hits-4 {
				name = fmt.Sprintf("shared-%d", hash(query)%5)
			}
			host := web.Hosts[hash(name)%uint64(len(web.Hosts))]
			results = append(results, result{
				URL: "http://" + host + "/page/" + name, Title: fmt.Sprintf("%s, part %d", query, i),
				Content: "About " + query, Engine: "fake", Engines: []string{"fake"}, Score: 1 / float64(i+1),
			})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"query": query, "number_of_results": len(results), "results": results,
		"answers": []any{}, "corrections": []any{}, "infoboxes": []any{}, "suggestions": []any{}, "unresponsive_engines": []any{},
	})
}

// page writes an article whose sentences carry figures that are its own.
func page(w http.ResponseWriter, name string) {
	topic := strings.ReplaceAll(name, "-", " ")
	seed := hash(name)
	var body strings.Builder
	fmt.Fprintf(&body, "<!doctype html><html lang=en><head><title>%s</title></head><body><main><article><h1>%s</h1>",
		html.EscapeString(topic), html.EscapeString(topic))
	for i := range 6 {
		fmt.Fprintf(&body, "<h2>Part %d of the survey</h2>", i+1)
		for j := range 3 {
			year := 1950 + (seed+uint64(i*7+j*3))%70
			share := (seed>>8 + uint64(i*13+j*29)) % 97
			fmt.Fprintf(&body, "<p>In %d the survey of %s counted %d stations and found that %d percent of them were still at work. "+
				"Its authors measured every station twice and published the tables in volume %d of their yearbook.</p>",
				year, html.EscapeString(topic), 100+(seed>>16+uint64(i*31+j))%900, share, i*3+j+1)
		}
	}
	body.WriteString("</article></main></body></html>")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(body.String()))
}

func hash(text string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text))
	return sum.Sum64()
}

func wait(ctx context.Context, latency time.Duration) bool {
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
