// Command reporter runs the reporter as a process of its own.
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
	"github.com/fathom-research/fathom/services/reporter"
)

// version is set when it is built.
var version = "dev"

type settings struct {
	reporter.Config

	NATSURL    string `env:"FATHOM_NATS_URL" envDefault:"nats://127.0.0.1:4222"`
	HealthAddr string `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
}

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg settings
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	observed, err := telemetry.Start(ctx, "reporter", version)
	if err != nil {
		return err
	}
	defer func() { _ = observed.Close(context.WithoutCancel(ctx)) }()
	conn, err := bus.Connect(cfg.NATSURL, "reporter")
	if err != nil {
		return err
	}
	defer conn.Close()
	opened, err := bus.Open(conn, bus.Options{Logger: observed.Logger})
	if err != nil {
		return err
	}
	service, err := reporter.New(cfg.Config, reporter.Deps{Bus: opened, Logger: observed.Logger})
	if err != nil {
		return err
	}
	probes := health.New(observed.Metrics, map[string]health.Check{"nats": func(context.Context) error {
		if !conn.IsConnected() {
			return fmt.Errorf("nats is %s", conn.Status())
		}
		return nil
	}})
	return run.All(ctx,
		run.Part{Name: "reporter", Run: service.Run},
		run.Part{Name: "health", Run: func(ctx context.Context) error { return probes.Serve(ctx, cfg.HealthAddr) }},
	)
}
