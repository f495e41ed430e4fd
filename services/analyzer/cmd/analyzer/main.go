// Command analyzer runs the analyzer as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/analyzer"
)

func main() {
	var cfg analyzer.Config
	os.Exit(process.Main("analyzer", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := analyzer.New(cfg, analyzer.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run}, nil
	}))
}
