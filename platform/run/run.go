// Package run starts the parts of a process together and stops them together.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Part is one long-lived component. Run blocks until ctx ends or the part fails,
// and returns only when everything that it started has stopped.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
}

// All runs the parts until ctx ends or one of them returns, then stops the others
// and waits for them. It returns the first failure; being stopped is none.
func All(ctx context.Context, parts ...Part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		group.Go(func() error {
			err := part.Run(ctx)
			if err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s: %w", part.Name, err)
			}
			if ctx.Err() == nil {
				return fmt.Errorf("%s: %w", part.Name, errEnded)
			}
			return nil
		})
	}
	return group.Wait()
}

var errEnded = errors.New("ended by itself")

// Main runs fn until it ends or the process is told to stop (SIGINT, SIGTERM),
// logs its failure, and returns the exit status. A second signal ends the process
// at once.
func Main(fn func(ctx context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	err := fn(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		slog.Error("stopped", "error", err)
		return 1
	}
	return 0
}
