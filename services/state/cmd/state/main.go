// Command state runs the state service.
package main

import (
	"context"
	"os"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/state"
)

var version = "dev"

type settings struct {
	state.Config

	NATS   string `env:"FATHOM_NATS_URL" envDefault:"nats://127.0.0.1:4222"`
	Health string `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
}

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg settings
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	tel, err := telemetry.Start(ctx, "state", version)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = tel.Close(closing)
	}()
	nc, err := bus.Connect(cfg.NATS, "state")
	if err != nil {
		return err
	}
	defer nc.Close()
	b, err := bus.Open(nc, bus.Options{Logger: tel.Logger})
	if err != nil {
		return err
	}
	service, err := state.New(cfg.Config, state.Deps{Bus: b, Logger: tel.Logger})
	if err != nil {
		return err
	}
	probes := health.New(tel.Metrics, service.Checks())
	return run.All(ctx,
		run.Part{Name: "state", Run: service.Run},
		run.Part{Name: "probes", Run: func(ctx context.Context) error { return probes.Serve(ctx, cfg.Health) }},
	)
}
