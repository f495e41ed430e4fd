package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Rolled are what rolling restarts came to.
type Rolled struct {
	Figures

	// Restarts are the processes that were asked to stop and started again.
	Restarts int
	// Requests were made of the gateway meanwhile; Refused are the answers that were
	// no success.
	Requests int
	Refused  []string
	// Attempts are the tries that were used up beyond each task's first.
	Attempts int
}

// Roll runs opts.Researches at once while every process but the gateway, NATS and
// Postgres is asked to stop and started again, one after the other, for at least so
// many rounds, and asks the gateway for something all the time.
func Roll(ctx context.Context, bin, dir string, outside Outside, opts Options, rounds int) (*Rolled, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.Deadline)
	defer cancel()
	began := time.Now()
	site, err := startSite(ctx, bin, dir, outside, opts)
	if err != nil {
		return nil, err
	}
	defer site.stop()

	rolled := &Rolled{}
	done := make(chan struct{})
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(done)
		return site.roll(ctx, rounds, rolled)
	})
	group.Go(func() error {
		site.ask(asking, rolled)
		return nil
	})
	group.Go(func() error {
		defer stopAsking()
		opts.Parallel = opts.Researches
		return runResearches(ctx, site, opts, done, &rolled.Figures)
	})
	err = group.Wait()
	if err != nil {
		return rolled, err
	}
	rolled.ModelCalls, rolled.Repeated = outside.Paid()
	ctx = context.WithoutCancel(ctx)
	err = check(ctx, site.databaseURL(), opts, &rolled.Figures)
	if err != nil {
		return rolled, err
	}
	rolled.Attempts, err = attempts(ctx, site.databaseURL())
	rolled.Duration = time.Since(began)
	return rolled, err
}

// roll restarts one process after another, each when the one before serves again.
func (s *site) roll(ctx context.Context, rounds int, rolled *Rolled) error {
	for range rounds {
		for _, k := range s.keepers {
			if k.part == "nats" || k.part == "gateway" {
				continue
			}
			err := k.restart(ctx)
			if err != nil {
				return err
			}
			rolled.Restarts++
		}
	}
	return nil
}

// ask requests the list of researches as fast as it is answered, until ctx ends.
func (s *site) ask(ctx context.Context, rolled *Rolled) {
	for ctx.Err() == nil {
		status, answer, err := s.client.once(ctx, http.MethodGet, "/api/research?page_size=5", "", nil)
		if ctx.Err() != nil {
			return
		}
		rolled.Requests++
		if err != nil || status != http.StatusOK {
			rolled.Refused = append(rolled.Refused, fmt.Sprintf("%d %s %v", status, answer, err))
		}
	}
}

// restart asks the process to stop, as a rolling update does, and waits until its
// successor is there.
func (k *keeper) restart(ctx context.Context) error {
	k.mu.Lock()
	old := k.current
	k.mu.Unlock()
	if old == nil {
		return fmt.Errorf("restart %s: it is not there", k.name)
	}
	_, err := k.kill(syscall.SIGTERM)
	if err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		k.mu.Lock()
		current := k.current
		k.mu.Unlock()
		if current != nil && current != old {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("restart %s: %w", k.name, ctx.Err())
		case <-tick.C:
		}
	}
}

// attempts counts the tries that tasks used up beyond the first.
func attempts(ctx context.Context, databaseURL string) (int, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return 0, fmt.Errorf("connect to count the attempts: %w", err)
	}
	var used int
	err = conn.QueryRow(ctx, "SELECT coalesce(sum(attempt), 0) FROM task").Scan(&used)
	return used, errors.Join(err, conn.Close(ctx))
}
