// Command proxy is the scraper's filtering proxy by itself: scrapers that have
// FATHOM_SCRAPER_PROXY set to it need no way out of the cluster of their own.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/polite"
	"github.com/fathom-research/fathom/services/scraper/internal/proxy"
)

type configuration struct {
	Addr       string   `env:"FATHOM_PROXY_ADDR" envDefault:":3128"`
	HealthAddr string   `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
	Allow      []string `env:"FATHOM_SCRAPER_ALLOW"`
	Deny       []string `env:"FATHOM_SCRAPER_DENY"`
	// DenyDomains are refused to what pages load, too.
	DenyDomains []string `env:"FATHOM_SCRAPER_DENY_DOMAINS"`
	MaxBytes    int64    `env:"FATHOM_PROXY_MAX_BYTES" envDefault:"67108864"`
}

func (c *configuration) Validate() error {
	var mistakes []error
	_, err := guard.New(guard.Options{Allow: c.Allow, Deny: c.Deny})
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SCRAPER_ALLOW must list host:port, FATHOM_SCRAPER_DENY addresses: %w", err))
	}
	if c.MaxBytes <= 0 {
		mistakes = append(mistakes, errors.New("FATHOM_PROXY_MAX_BYTES must be positive"))
	}
	return errors.Join(mistakes...)
}

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg configuration
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	signals, err := telemetry.Start(ctx, "scraper-proxy", "")
	if err != nil {
		return err
	}
	defer func() { _ = signals.Close(context.WithoutCancel(ctx)) }()

	rules, err := guard.New(guard.Options{Allow: cfg.Allow, Deny: cfg.Deny})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", cfg.Addr, err)
	}
	filter := proxy.New(proxy.Options{
		Dial: rules.DialContext, MaxBytes: cfg.MaxBytes, Logger: signals.Logger,
		Check: polite.Domains{Never: cfg.DenyDomains}.Check,
	})
	probes := health.New(signals.Metrics, nil)
	return run.All(ctx,
		run.Part{Name: "proxy", Run: func(ctx context.Context) error { return filter.Serve(ctx, listener) }},
		run.Part{Name: "probes", Run: func(ctx context.Context) error { return probes.Serve(ctx, cfg.HealthAddr) }},
	)
}
