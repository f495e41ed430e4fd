package scraper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/capacity"
	"github.com/fathom-research/fathom/services/scraper/internal/chrome"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/ladder"
	"github.com/fathom-research/fathom/services/scraper/internal/polite"
	"github.com/fathom-research/fathom/services/scraper/internal/proxy"
)

// browser is Chrome behind the filtering proxy.
type browser struct {
	chrome *chrome.Chrome
	guard  *guard.Guard
	check  func(u *url.URL) error
	// stopProxy ends the proxy of this process and waits for it.
	stopProxy func() error
}

// proxyBytes bounds what one connection of Chrome brings in.
const proxyBytes = 64 << 20

// openBrowser makes ready what Chrome needs; Chrome itself starts with the first
// page. It returns nil where plain HTTP is all that is wanted, or all there is.
func (r *Reader) openBrowser(external *url.URL, logger *slog.Logger) (*browser, error) {
	mode := ladder.Mode(r.cfg.Mode)
	if mode == ladder.OnlyHTTP {
		return nil, nil
	}
	path, err := chrome.Locate(r.cfg.ChromePath)
	switch {
	case errors.Is(err, chrome.ErrNoBrowser) && mode == ladder.Auto:
		logger.Warn("pages that need scripts are not read", "error", err)
		return nil, nil
	case err != nil:
		return nil, fault.Permanent(fault.Misconfigured, "%w", err)
	}
	b := &browser{guard: r.guard, check: r.check, stopProxy: func() error { return nil }}
	via := external
	if via == nil {
		via, err = b.startProxy(r.cfg, logger)
		if err != nil {
			return nil, err
		}
	}
	b.chrome = chrome.New(chrome.Options{
		Path: path, Proxy: via, User: r.cfg.ChromeUser, Sandbox: r.cfg.Sandbox,
		UserAgent: r.cfg.UserAgent, Language: r.cfg.Language,
		Tabs: cmp.Or(r.cfg.Tabs, capacity.Tabs()), Timeout: r.cfg.ChromeTimeout, MaxBytes: r.cfg.MaxBytes,
		RecyclePages: r.cfg.RecyclePages, PageMemory: r.cfg.PageMemory,
		Memory: cmp.Or(r.cfg.ChromeMemory, capacity.Memory()/2), Logger: logger,
	})
	return b, nil
}

// startProxy runs the filtering proxy in this process, for Chrome alone.
func (b *browser) startProxy(cfg Config, logger *slog.Logger) (*url.URL, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the filtering proxy: %w", err)
	}
	filter := proxy.New(proxy.Options{
		Dial: b.guard.DialContext, MaxBytes: proxyBytes, Logger: logger,
		// The allow list is for pages, and not for what they are made of.
		Check: polite.Domains{Never: cfg.DenyDomains}.Check,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- filter.Serve(ctx, listener) }()
	b.stopProxy = func() error {
		cancel()
		return <-ended
	}
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}, nil
}

// Get shows a page. Chrome does not tell why a tunnel was refused, so that is asked
// of the guard afterwards.
func (b *browser) Get(ctx context.Context, address string) (*fetch.Response, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Permanent(fault.RefusedAddress, "the address can't be read: %v", err)
	}
	err = b.check(u)
	if err != nil {
		return nil, err
	}
	u.User = nil
	answer, err := b.chrome.Get(ctx, u.String())
	if err != nil && strings.Contains(err.Error(), "ERR_TUNNEL_CONNECTION_FAILED") {
		connection, dialErr := b.guard.DialContext(ctx, "tcp", guard.Authority(u))
		if dialErr == nil {
			_ = connection.Close()
		} else if fault.As(dialErr).Code == fault.RefusedAddress {
			return nil, fault.As(dialErr)
		}
	}
	if err != nil {
		return nil, err
	}
	led, err := url.Parse(answer.FinalURL)
	if err != nil {
		return nil, fault.Permanent(fault.RefusedAddress, "the page led to an address that can't be read: %v", err)
	}
	return answer, b.check(led)
}

func (b *browser) close() error {
	b.chrome.Close()
	return b.stopProxy()
}
