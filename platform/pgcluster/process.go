package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// process is a running server.
type process struct {
	pid    int
	exited chan struct{}
	output *lastLines
}

// startProcess starts cmd bound to the life of this process. The kernel sends the
// parent-death signal when the starting thread ends (prctl(2), PR_SET_PDEATHSIG),
// so one thread is kept for it.
func startProcess(cmd *exec.Cmd, logger *slog.Logger) (*process, error) {
	p := &process{exited: make(chan struct{}), output: &lastLines{logger: logger}}
	cmd.Stdout = p.output
	cmd.Stderr = p.output
	endWithParent(cmd.SysProcAttr)

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		// How it ended is in its output, and told by lastOutput.
		_ = cmd.Wait()
		close(p.exited)
	}()
	err := <-started
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	return p, nil
}

// stop asks for a fast shutdown, and for an immediate one when ctx ends.
func (p *process) stop(ctx context.Context) error {
	err := p.signal(syscall.SIGINT)
	if err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
	}
	err = p.signal(syscall.SIGQUIT)
	if err != nil {
		return err
	}
	<-p.exited
	return nil
}

func (p *process) signal(signal syscall.Signal) error {
	select {
	case <-p.exited:
		return nil
	default:
	}
	err := syscall.Kill(p.pid, signal)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal Postgres: %w", err)
	}
	return nil
}

func (p *process) lastOutput() string { return p.output.text() }

// lastLines keeps the end of what a server prints, for an error message.
type lastLines struct {
	logger *slog.Logger
	mu     sync.Mutex
	kept   []byte
}

func (l *lastLines) Write(chunk []byte) (int, error) {
	if l.logger != nil {
		l.logger.Debug("postgres", "output", strings.TrimSpace(string(chunk)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	const limit = 4096
	l.kept = append(l.kept, chunk...)
	if len(l.kept) > limit {
		l.kept = l.kept[len(l.kept)-limit:]
	}
	return len(chunk), nil
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tail(l.kept)
}
