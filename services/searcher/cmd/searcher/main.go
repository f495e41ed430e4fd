// Command searcher runs the searcher as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/searcher"
)

func main() {
	var cfg searcher.Config
	os.Exit(process.Main("searcher", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := searcher.New(cfg, searcher.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run}, nil
	}))
}
