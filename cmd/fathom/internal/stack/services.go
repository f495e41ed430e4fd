package stack

import (
	"errors"
	"log/slog"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/run"
	"github.com/fathom-research/fathom/services/analyzer"
	"github.com/fathom-research/fathom/services/gateway"
	"github.com/fathom-research/fathom/services/planner"
	"github.com/fathom-research/fathom/services/reporter"
	"github.com/fathom-research/fathom/services/scraper"
	"github.com/fathom-research/fathom/services/searcher"
	"github.com/fathom-research/fathom/services/state"
)

// configs are the configurations of every service.
type configs struct {
	llm      llm.Config
	gateway  gateway.Config
	state    state.Config
	planner  planner.Config
	searcher searcher.Config
	scraper  scraper.Config
	analyzer analyzer.Config
	reporter reporter.Config
}

func loadConfigs(environment map[string]string, idle bool) (*configs, error) {
	c := &configs{}
	all := []any{&c.gateway, &c.state}
	if !idle {
		all = append(all, &c.llm, &c.planner, &c.searcher, &c.scraper, &c.analyzer, &c.reporter)
	}
	var mistakes []error
	for _, cfg := range all {
		mistakes = append(mistakes, config.LoadFrom(cfg, environment))
	}
	return c, errors.Join(mistakes...)
}

func (s *Stack) build(environment map[string]string) error {
	configured, err := loadConfigs(environment, s.cfg.Idle)
	if err != nil {
		return err
	}
	shared, err := s.openBus()
	if err != nil {
		return err
	}
	err = s.buildCore(configured, shared)
	if err != nil || s.cfg.Idle {
		return err
	}
	s.builtin = configured.llm.Builtin()
	return s.buildWorkers(configured, shared)
}

func (s *Stack) buildCore(configured *configs, shared *bus.Bus) error {
	store, err := state.New(configured.state, state.Deps{Bus: shared, Logger: s.logger("state"), Listener: s.state})
	if err != nil {
		return err
	}
	rest, err := gateway.New(configured.gateway, gateway.Deps{
		Conn: s.conn, Logger: s.logger("gateway"), Metrics: s.cfg.Metrics, Listener: s.rest,
	})
	if err != nil {
		return err
	}
	s.core = append(s.core, run.Part{Name: "state", Run: store.Run}, run.Part{Name: "gateway", Run: rest.Run})
	return nil
}

func (s *Stack) buildWorkers(configured *configs, shared *bus.Bus) error {
	plan, err := planner.New(configured.planner, planner.Deps{Bus: shared, Logger: s.logger("planner")})
	if err != nil {
		return err
	}
	search, err := searcher.New(configured.searcher, searcher.Deps{Bus: shared, Logger: s.logger("searcher")})
	if err != nil {
		return err
	}
	scrape, err := scraper.New(configured.scraper, scraper.Deps{Bus: shared, Logger: s.logger("scraper")})
	if err != nil {
		return err
	}
	analyze, err := analyzer.New(configured.analyzer, analyzer.Deps{Bus: shared, Logger: s.logger("analyzer")})
	if err != nil {
		return err
	}
	report, err := reporter.New(configured.reporter, reporter.Deps{Bus: shared, Logger: s.logger("reporter")})
	if err != nil {
		return err
	}
	s.workers = append(s.workers,
		run.Part{Name: "planner", Run: plan.Run},
		run.Part{Name: "searcher", Run: search.Run},
		run.Part{Name: "scraper", Run: scrape.Run},
		run.Part{Name: "analyzer", Run: analyze.Run},
		run.Part{Name: "reporter", Run: report.Run},
	)
	return nil
}

func (s *Stack) logger(service string) *slog.Logger { return s.cfg.Logger.With("service", service) }
