// Package chaos runs Fathom's services as separate processes on a real NATS and a
// real Postgres, kills them at random while researches run, and then checks in the
// database and in the model's log that nothing was lost and nothing done twice.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options say how much happens.
type Options struct {
	// Researches are run at least; more of them when these end before the kills do.
	Researches int
	Depth      int
	Breadth    int
	// Kills is how many processes are killed at least before the kills stop.
	Kills int
	// Every is the mean time between kills.
	Every time.Duration
	// Seed makes the choice of victims and pauses repeatable; what the kills hit is not.
	Seed uint64
	// Parallel is how many researches run at once.
	Parallel int
	// FaultPoints is the probability of a process to die at each passage of a fault point.
	FaultPoints float64
	// Deadline bounds the whole run.
	Deadline time.Duration
	// Output gets the services' logs.
	Output io.Writer
	Logger *slog.Logger
}

// Figures are what a run came to.
type Figures struct {
	Researches int
	Completed  int
	Queries    int
	Websites   int
	Reports    int
	// Kills counts by part, those at fault points as "<part> at a fault point".
	Kills map[string]int
	// ModelCalls were answered; Repeated of them were answered before; InFlight were
	// being answered when a process was killed, the most that may be repeated.
	ModelCalls int
	Repeated   int
	InFlight   int
	Duration   time.Duration
	// Failures counts the websites that failed by reason and message.
	Failures map[string]int
	// Violations are the broken invariants; a good run has none.
	Violations []string
}

// Run does a whole run in dir, a folder that the user of Postgres may enter, with
// the binaries of bin. The error says why the run could not be done; what it found
// is in the figures.
func Run(ctx context.Context, bin, dir string, outside Outside, opts Options) (*Figures, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.Deadline)
	defer cancel()
	began := time.Now()

	site, err := startSite(ctx, bin, dir, outside, opts)
	if err != nil {
		return nil, err
	}
	defer site.stop()

	figures := &Figures{}
	killing, stopKilling := context.WithCancel(ctx)
	defer stopKilling()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		site.killAtRandom(killing, opts)
	}()

	err = runResearches(ctx, site, opts, killed, figures)
	stopKilling()
	<-killed
	if err != nil {
		return figures, err
	}
	figures.Kills, figures.InFlight = site.killed()
	figures.ModelCalls, figures.Repeated = outside.Paid()
	err = check(ctx, site.databaseURL(), opts, figures)
	figures.Duration = time.Since(began)
	return figures, err
}

// Outside is the world around Fathom that a run is done in.
type Outside struct {
	SearchURL string
	Hosts     []string
	ModelURL  string
	// InFlight is how many model calls are being answered now.
	InFlight func() int
	// Paid is how many calls were answered, and how many of them repeatedly.
	Paid func() (answered, repeated int)
}

// runResearches runs opts.Parallel researches at once, until opts.Researches were
// started and enough processes were killed: there is always work to be lost.
func runResearches(ctx context.Context, site *site, opts Options, killed <-chan struct{}, figures *Figures) error {
	var mu sync.Mutex
	next := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if figures.Researches >= opts.Researches && isClosed(killed) {
			return 0, false
		}
		figures.Researches++
		return figures.Researches - 1, true
	}
	group, ctx := errgroup.WithContext(ctx)
	for range opts.Parallel {
		group.Go(func() error {
			for number, more := next(); more; number, more = next() {
				status, err := site.client.research(ctx, number, opts)
				if err != nil {
					return fmt.Errorf("research %d: %w", number, err)
				}
				mu.Lock()
				if status == "completed" {
					figures.Completed++
				} else {
					figures.violate("research %d ended as %s", number, status)
				}
				mu.Unlock()
				opts.Logger.Info("research ended", "number", number, "status", status)
			}
			return nil
		})
	}
	return group.Wait()
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// killAtRandom kills one process after another until enough were killed or ctx ends;
// a process is started again by its keeper. Each round hits every process and
// Postgres once, in an order of its own, so that no part is left out by chance.
func (s *site) killAtRandom(ctx context.Context, opts Options) {
	random := rand.New(rand.NewPCG(opts.Seed, 7))
	victims := s.victims()
	for died, next := 0, 0; died < opts.Kills; next++ {
		if next%len(victims) == 0 {
			random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
		}
		pause := time.Duration(random.ExpFloat64() * float64(opts.Every))
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pause, 4*opts.Every)):
		}
		victim := victims[next%len(victims)]
		s.noteInFlight()
		dead, err := victim.kill(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			opts.Logger.Warn("kill", "part", victim.name, "error", err)
		}
		if dead {
			died++
		}
	}
}
