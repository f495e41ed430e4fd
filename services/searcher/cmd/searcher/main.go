// Command searcher runs the search worker as a process of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/searcher"
)

type settings struct {
	searcher.Config
	NATSURL    string `env:"FATHOM_NATS_URL" envDefault:"nats://127.0.0.1:4222"`
	HealthAddr string `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
}

var errDisconnected = errors.New("not connected")

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg settings
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	tel, err := telemetry.Start(ctx, "searcher", "")
	if err != nil {
		return err
	}
	defer tel.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing can be done about lost spans at exit

	conn, err := bus.Connect(cfg.NATSURL, "searcher")
	if err != nil {
		return fmt.Errorf("connect to NATS: %w", err)
	}
	defer conn.Close()
	messages, err := bus.Open(conn, bus.Options{Logger: tel.Logger})
	if err != nil {
		return err
	}
	service, err := searcher.New(cfg.Config, searcher.Deps{Bus: messages, Logger: tel.Logger})
	if err != nil {
		return err
	}
	probes := health.New(tel.Metrics, map[string]health.Check{"nats": func(context.Context) error {
		if !conn.IsConnected() {
			return errDisconnected
		}
		return nil
	}})
	return run.All(ctx,
		run.Part{Name: "searcher", Run: service.Run},
		run.Part{Name: "probes", Run: func(ctx context.Context) error { return probes.Serve(ctx, cfg.HealthAddr) }})
}
