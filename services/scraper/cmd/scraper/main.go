// Command scraper runs the scraper as a process of its own.
package main

import (
	"context"
	"os"

	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/scraper"
)

func main() {
	var cfg scraper.Config
	os.Exit(process.Main("scraper", &cfg, func(_ context.Context, env process.Environment) (*process.Service, error) {
		service, err := scraper.New(cfg, scraper.Deps{Bus: env.Bus, Logger: env.Logger})
		if err != nil {
			return nil, err
		}
		return &process.Service{Run: service.Run}, nil
	}))
}
