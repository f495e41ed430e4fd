// Command state runs state, the only decider and the only owner of the database, as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/state"
)

func main() {
	var cfg state.Config
	os.Exit(process.Main("state", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := state.New(cfg, state.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run, Ready: service.Checks()}, nil
	}))
}
