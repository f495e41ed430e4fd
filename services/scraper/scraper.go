// Package scraper reads web pages: any page, politely, and without ever connecting
// to a private address.
package scraper

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper/internal/capacity"
	"github.com/fathom-research/fathom/services/scraper/internal/polite"
	"github.com/fathom-research/fathom/services/scraper/internal/robots"
)

// Deps are what the service is given.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service is the worker for tasks of the kind scrape.
type Service struct {
	cfg    Config
	deps   Deps
	reader *Reader
	robots *robots.Checker
	sites  *polite.Sites
}

// placeWait is how long a task holds its slot while its site has no place for it;
// after that the slot is better used for another site.
const placeWait = 3 * time.Second

// New makes the service. Close ends the browser when Run is not called.
func New(cfg Config, deps Deps) (*Service, error) {
	reader, err := newReader(cfg, deps.Logger)
	if err != nil {
		return nil, err
	}
	return &Service{
		cfg: cfg, deps: deps, reader: reader,
		robots: robots.New(cfg.RobotsName, reader.fetchRobots),
		sites: polite.New(deps.Bus, polite.Options{
			Concurrent: cfg.PerSite, Gap: cfg.Gap, Wait: placeWait,
			Hold: cfg.HTTPTimeout + cfg.ChromeTimeout,
			Own:  reader.guard.Allowed,
		}),
	}, nil
}

// Run serves scrape tasks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	slots := cmp.Or(s.cfg.Concurrency, capacity.Pages())
	s.deps.Logger.InfoContext(ctx, "scraper started", "slots", slots, "mode", s.cfg.Mode)
	err := s.deps.Bus.Work(ctx, bus.Worker{Kind: bus.Scrape, Slots: slots, Handle: s.Handle})
	closeErr := s.Close()
	if err != nil {
		return err
	}
	return closeErr
}

// Close ends what the service keeps running; Run does it by itself.
func (s *Service) Close() error { return s.reader.Close() }

// Handle reads the page of one task.
func (s *Service) Handle(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	address := task.GetScrape().GetUrl()
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Permanent(fault.RefusedAddress, "the address can't be read: %v", err)
	}
	err = s.reader.check(u)
	if err != nil {
		return nil, err
	}
	var delay time.Duration
	if s.cfg.Robots {
		delay, err = s.robots.Check(ctx, u)
		if err != nil {
			return nil, err
		}
	}
	leave, err := s.sites.Enter(ctx, u, delay)
	if err != nil {
		return nil, err
	}
	defer leave()
	scraped, err := s.reader.Read(ctx, address)
	if err != nil {
		return nil, s.failed(ctx, u, err)
	}
	return &workv1.Result{Payload: &workv1.Result_Scrape{Scrape: scraped}}, nil
}

// failed tells the other pods what the site asked for with its refusal.
func (s *Service) failed(ctx context.Context, u *url.URL, failure error) error {
	err := s.sites.Obey(ctx, u, failure)
	if err != nil {
		s.deps.Logger.WarnContext(ctx, "retry-after not shared", "site", polite.Site(u), "error", err)
	}
	return fmt.Errorf("read %s: %w", u.Redacted(), failure)
}
