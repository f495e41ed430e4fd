// Command planner runs the planner as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/planner"
)

func main() {
	var cfg planner.Config
	os.Exit(process.Main("planner", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := planner.New(cfg, planner.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run}, nil
	}))
}
