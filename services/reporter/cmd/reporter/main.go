// Command reporter runs the reporter as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/reporter"
)

func main() {
	var cfg reporter.Config
	os.Exit(process.Main("reporter", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := reporter.New(cfg, reporter.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run}, nil
	}))
}
