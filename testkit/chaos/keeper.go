package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// keeper holds one process up: when it ends, however it does, it is started again,
// as Kubernetes would.
type keeper struct {
	name    string
	part    string
	command func() *exec.Cmd
	output  io.Writer

	mu      sync.Mutex
	current *exec.Cmd
	stopped bool
	done    chan struct{}
	kills   int
	// ownDeaths are the ends by SIGKILL that nobody here asked for: fault points.
	ownDeaths int
	asked     bool
	onDeath   func()
}

// restartAfter is how long a process stays away.
const restartAfter = 200 * time.Millisecond

func (k *keeper) start() error {
	k.done = make(chan struct{})
	cmd, err := k.launch()
	if err != nil {
		return err
	}
	go k.keep(cmd)
	return nil
}

func (k *keeper) launch() (*exec.Cmd, error) {
	cmd := k.command()
	cmd.Stdout, cmd.Stderr = k.output, k.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := cmd.Start()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", k.name, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = cmd
	return cmd, nil
}

func (k *keeper) keep(cmd *exec.Cmd) {
	defer close(k.done)
	for {
		err := cmd.Wait()
		if k.ended(err) {
			return
		}
		<-time.After(restartAfter)
		cmd, err = k.launch()
		if err != nil {
			_, _ = fmt.Fprintf(k.output, "keeper of %s: %v\n", k.name, err)
			return
		}
	}
}

// ended notes how the process ended and reports whether it is to stay so.
func (k *keeper) ended(err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !k.asked && !k.stopped {
		status, ok := exit.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			k.ownDeaths++
			if k.onDeath != nil {
				k.onDeath()
			}
		}
	}
	k.asked = false
	k.current = nil
	return k.stopped
}

// kill ends the process with signal, without asking it, and reports whether there
// was one: it may be away.
func (k *keeper) kill(signal syscall.Signal) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.stopped {
		return false, nil
	}
	err := syscall.Kill(-k.current.Process.Pid, signal)
	if errors.Is(err, syscall.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("kill %s: %w", k.name, err)
	}
	k.asked = true
	k.kills++
	return true, nil
}

// stop ends the process for good: it is asked first, and killed after a while.
func (k *keeper) stop() {
	k.mu.Lock()
	k.stopped = true
	current := k.current
	k.mu.Unlock()
	if current == nil || current.Process == nil {
		return
	}
	_ = current.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-current.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	<-k.done
}

// awaitOpen waits until something answers on addr.
func awaitOpen(ctx context.Context, addr string) error {
	for {
		conn, err := dial(ctx, addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", addr, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
