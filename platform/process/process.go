// Package process is what the mains of Fathom's services have in common: settings,
// telemetry, the connection to NATS, probes, and an orderly end.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
)

// Version is that of the build; it is set by the linker.
var Version = "dev"

// Settings are those of every service's process.
type Settings struct {
	// NATSURL is where the bus is.
	NATSURL string `env:"FATHOM_NATS_URL" envDefault:"nats://127.0.0.1:4222"`
	// HealthAddr serves /livez, /readyz and /metrics.
	HealthAddr string `env:"FATHOM_HEALTH_ADDR" envDefault:":9090"`
	// AckWait is how long a silent worker holds a task; every service has the same.
	AckWait time.Duration `env:"FATHOM_ACK_WAIT" envDefault:"30s"`
}

// Validate checks what the types do not say.
func (s *Settings) Validate() error {
	if s.AckWait < time.Second {
		return fmt.Errorf("FATHOM_ACK_WAIT must be at least 1s, not %s", s.AckWait)
	}
	return nil
}

// Environment is what a service is built with.
type Environment struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service is a part of the process with its own readiness.
type Service struct {
	Run func(ctx context.Context) error
	// Ready are checks beside the connection to NATS; it may be nil.
	Ready map[string]health.Check
}

// Main loads cfg, a pointer to the service's configuration, builds the service and
// runs it until the process is told to stop. It returns the exit status.
func Main(name string, cfg any, build func(ctx context.Context, env Environment) (*Service, error)) int {
	return run.Main(func(ctx context.Context) error { return serve(ctx, name, cfg, build) })
}

func serve(ctx context.Context, name string, cfg any, build func(ctx context.Context, env Environment) (*Service, error)) error {
	var settings Settings
	err := errors.Join(config.Load(&settings), config.Load(cfg))
	if err != nil {
		return err
	}
	observed, err := telemetry.Start(ctx, name, Version)
	if err != nil {
		return err
	}
	defer flush(ctx, observed)
	conn, err := bus.Connect(settings.NATSURL, name)
	if err != nil {
		return err
	}
	defer conn.Close()
	opened, err := bus.Open(conn, bus.Options{AckWait: settings.AckWait, Logger: observed.Logger})
	if err != nil {
		return err
	}
	service, err := build(ctx, Environment{Bus: opened, Logger: observed.Logger})
	if err != nil {
		return err
	}
	checks := map[string]health.Check{"nats": connected(conn)}
	for check, ready := range service.Ready {
		checks[check] = ready
	}
	probes := health.New(observed.Metrics, checks)
	return run.All(ctx,
		run.Part{Name: name, Run: service.Run},
		run.Part{Name: "probes", Run: func(ctx context.Context) error { return probes.Serve(ctx, settings.HealthAddr) }},
	)
}

func flush(ctx context.Context, observed *telemetry.Telemetry) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := observed.Close(closing)
	if err != nil {
		slog.Warn("flush telemetry", "error", err)
	}
}

func connected(conn *nats.Conn) health.Check {
	return func(context.Context) error {
		if !conn.IsConnected() {
			return fmt.Errorf("the connection is %s", conn.Status())
		}
		return nil
	}
}
