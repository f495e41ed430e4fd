// Command scraper serves scrape tasks.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/scraper"
)

type configuration struct {
	NATSURL    string `env:"FATHOM_NATS_URL,required"`
	HealthAddr string `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
	Scraper    scraper.Config
}

func (c *configuration) Validate() error { return c.Scraper.Validate() }

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg configuration
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	signals, err := telemetry.Start(ctx, "scraper", "")
	if err != nil {
		return err
	}
	defer func() { _ = signals.Close(context.WithoutCancel(ctx)) }()

	nc, err := bus.Connect(cfg.NATSURL, "scraper")
	if err != nil {
		return fmt.Errorf("connect to NATS: %w", err)
	}
	defer nc.Close()
	b, err := bus.Open(nc, bus.Options{Logger: signals.Logger})
	if err != nil {
		return err
	}
	service, err := scraper.New(cfg.Scraper, scraper.Deps{Bus: b, Logger: signals.Logger})
	if err != nil {
		return err
	}
	probes := health.New(signals.Metrics, nil)
	return run.All(ctx,
		run.Part{Name: "scraper", Run: service.Run},
		run.Part{Name: "probes", Run: func(ctx context.Context) error { return probes.Serve(ctx, cfg.HealthAddr) }},
	)
}
