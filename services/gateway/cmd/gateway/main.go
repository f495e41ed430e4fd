// Command gateway runs the gateway as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/rpc"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/gateway"
)

type settings struct {
	gateway.Config

	// StateAddr is state's gRPC address.
	StateAddr string `env:"FATHOM_STATE_ADDR" envDefault:"127.0.0.1:9000"`
}

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run.Main(serve)) }

func serve(ctx context.Context) error {
	var cfg settings
	err := config.Load(&cfg)
	if err != nil {
		return err
	}
	tel, err := telemetry.Start(ctx, "gateway", version)
	if err != nil {
		return err
	}
	defer tel.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing can be done about lost spans at exit

	conn, err := rpc.Dial(cfg.StateAddr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	service, err := gateway.New(cfg.Config, gateway.Deps{Conn: conn, Logger: tel.Logger, Metrics: tel.Metrics})
	if err != nil {
		return err
	}
	// Probes and metrics are on the gateway's own address.
	return service.Run(ctx)
}
