package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fathom-research/fathom/cmd/fathom/internal/client"
	"github.com/fathom-research/fathom/cmd/fathom/internal/stack"
	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/platform/telemetry"
)

// connection leads to a gateway: a distant one, one that runs on this machine, or
// one in this process.
type connection struct {
	*client.Client
	// State is state's gRPC address; empty when only the gateway is known.
	State string
	// Own is the stack in this process, if there is one.
	Own  *stack.Stack
	URL  string
	stop func() error
}

// Close stops the stack in this process, if there is one, and waits for its end.
func (c *connection) Close() error {
	c.Client.Close()
	return c.stop()
}

const (
	startingPoll = 100 * time.Millisecond
	startingWait = 2 * time.Minute
)

// connect finds the gateway to use. With work, a stack in this process has workers,
// so that researches go on. The context it returns ends with cause when that stack fails.
func (a *app) connect(ctx context.Context, work bool) (context.Context, *connection, error) {
	if a.server != "" {
		c, err := a.dial(a.server, "")
		return ctx, c, err
	}
	settings, err := a.settings()
	if err != nil {
		return ctx, nil, err
	}
	running, err := awaitRunning(ctx, settings.DataDir)
	if err != nil {
		return ctx, nil, err
	}
	if running != nil {
		c, err := a.dial(running.URL, running.State)
		return ctx, c, err
	}
	// A command's own gateway is nobody's address to remember.
	if a.environment["FATHOM_HTTP_ADDR"] == "" {
		settings.HTTPAddr = "127.0.0.1:0"
	}
	return a.startStack(ctx, settings, work)
}

func (a *app) dial(url, state string) (*connection, error) {
	c, err := client.New(url)
	if err != nil {
		return nil, err
	}
	return &connection{Client: c, URL: url, State: state, stop: func() error { return nil }}, nil
}

// awaitRunning returns the stack that runs on the data folder, or nil. One that is
// just starting is waited for.
func awaitRunning(ctx context.Context, dir string) (*stack.Running, error) {
	ctx, cancel := context.WithTimeout(ctx, startingWait)
	defer cancel()
	for {
		running, err := stack.Find(dir)
		if err != nil || running == nil || running.URL != "" {
			return running, err
		}
		select {
		case <-ctx.Done():
			return nil, &stack.BusyError{Dir: dir, Running: *running}
		case <-time.After(startingPoll):
		}
	}
}

func (a *app) settings() (stack.Settings, error) {
	settings, err := stack.ReadSettings(a.environment)
	if err != nil {
		return settings, err
	}
	if a.data != "" {
		settings.DataDir = a.data
	}
	return settings, nil
}

// startStack runs a stack in this process, with its log in the data folder, since
// the terminal belongs to the command.
func (a *app) startStack(ctx context.Context, settings stack.Settings, work bool) (context.Context, *connection, error) {
	observed, err := telemetry.Start(ctx, "fathom", process.Version)
	if err != nil {
		return ctx, nil, err
	}
	logger, closeLog, err := openLog(settings.DataDir)
	if err != nil {
		return ctx, nil, errors.Join(err, observed.Close(ctx))
	}
	slog.SetDefault(logger)
	started, err := stack.Start(ctx, stack.Config{
		Settings: settings, Environment: a.environment, Idle: !work, Logger: logger, Metrics: observed.Metrics,
	})
	if err != nil {
		return ctx, nil, errors.Join(err, observed.Close(ctx), closeLog())
	}
	running, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := started.Run(running)
		if err != nil {
			cancel(fmt.Errorf("%w (log: %s)", err, logFile(settings.DataDir)))
		}
		ended <- err
	}()
	c, err := a.dial(started.URL(), started.StateAddr())
	if err != nil {
		return ctx, nil, err
	}
	c.Own = started
	c.stop = func() error {
		cancel(nil)
		err := <-ended
		closing, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		return errors.Join(err, observed.Close(closing), closeLog())
	}
	return running, c, nil
}

func logFile(dir string) string { return filepath.Join(dir, "fathom.log") }

// maxLog is when the log begins anew.
const maxLog = 10 << 20

func openLog(dir string) (*slog.Logger, func() error, error) {
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		return nil, nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	info, err := os.Stat(logFile(dir))
	if err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(logFile(dir), flags, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	return slog.New(slog.NewTextHandler(file, nil)), file.Close, nil
}

// cause is why a command ended: the failure of the stack in this process tells more
// than the requests that it cut off.
func cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := context.Cause(ctx)
	if errors.Is(why, context.Canceled) {
		return errors.Join(context.Canceled, why)
	}
	return why
}
