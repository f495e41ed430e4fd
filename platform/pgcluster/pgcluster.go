// Package pgcluster runs a private Postgres cluster: a laptop needs no database
// server of its own, and a test gets a real one.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Config says where a cluster lives.
type Config struct {
	// Dir holds the cluster. It is created when it is missing; the caller sees to it
	// that only one process uses it. When started by root the server runs as another
	// user, who must be able to enter Dir's parents.
	Dir string
	// Settings are server parameters, for instance "fsync": "off" in tests.
	Settings map[string]string
	Logger   *slog.Logger
}

// Cluster is a running server.
type Cluster struct {
	socketDir string
	process   *process
	removes   string
}

const (
	superuser     = "fathom"
	startTimeout  = 60 * time.Second
	readyPoll     = 10 * time.Millisecond
	maxSocketPath = 107 // sun_path on Linux; 103 on macOS, met by the margin below
)

// Start creates the cluster when Dir has none, starts its server and returns when
// it accepts connections. A server that a dead process left behind is stopped first.
// The server ends with this process even when that is killed (on Linux).
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolve the cluster's folder: %w", err)
	}
	err = account.makeDir(dir)
	if err != nil {
		return nil, err
	}
	l := launcher{bin: bin, account: account, dir: dir, logger: cfg.Logger}
	err = l.initialize(ctx)
	if err != nil {
		return nil, err
	}
	err = l.stopLeftover(ctx)
	if err != nil {
		return nil, err
	}
	return l.start(ctx, cfg.Settings)
}

// URL is the address of the cluster's database, for its superuser, over a socket
// that no other user can reach.
func (c *Cluster) URL() string {
	query := url.Values{"host": {c.socketDir}}
	return "postgres://" + superuser + "@/postgres?" + query.Encode()
}

// Stop ends the server: it disconnects clients and writes a checkpoint. When ctx
// ends first the server is ended at once, and recovers at its next start.
func (c *Cluster) Stop(ctx context.Context) error {
	err := c.process.stop(ctx)
	if c.removes != "" {
		err = errors.Join(err, os.RemoveAll(c.removes))
	}
	return err
}

// Exited is closed when the server has ended, asked to or not.
func (c *Cluster) Exited() <-chan struct{} { return c.process.exited }

type launcher struct {
	bin     string
	account account
	dir     string
	logger  *slog.Logger
}

func (l launcher) data() string { return filepath.Join(l.dir, "data") }

// initialize makes the cluster under another name and renames it, so that a
// process killed half-way leaves no half cluster.
func (l launcher) initialize(ctx context.Context) error {
	_, err := os.Stat(filepath.Join(l.data(), "PG_VERSION"))
	if err == nil {
		return nil
	}
	unfinished := l.data() + ".new"
	err = os.RemoveAll(unfinished)
	if err != nil {
		return fmt.Errorf("remove an unfinished cluster: %w", err)
	}
	cmd := l.command(ctx, "initdb", "-D", unfinished, "-U", superuser, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("create a Postgres cluster in %s: %w: %s", l.dir, err, tail(output))
	}
	err = os.Rename(unfinished, l.data())
	if err != nil {
		return fmt.Errorf("put the new cluster in place: %w", err)
	}
	return nil
}

// stopLeftover ends a server that still runs on the folder although the process
// that started it is gone.
func (l launcher) stopLeftover(ctx context.Context) error {
	_, err := os.Stat(l.pidFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	running := l.command(ctx, "pg_ctl", "status", "-D", l.data()).Run() == nil
	if !running {
		return nil
	}
	output, err := l.command(ctx, "pg_ctl", "stop", "-D", l.data(), "-m", "immediate", "-w", "-t", "30").CombinedOutput()
	if err != nil {
		return fmt.Errorf("stop the server left on %s: %w: %s", l.data(), err, tail(output))
	}
	return nil
}

func (l launcher) pidFile() string { return filepath.Join(l.data(), "postmaster.pid") }

func (l launcher) start(ctx context.Context, settings map[string]string) (*Cluster, error) {
	socketDir, removes, err := l.socketDir()
	if err != nil {
		return nil, err
	}
	args := []string{
		"-D", l.data(), "-k", socketDir,
		"-c", "listen_addresses=",
		"-c", "max_connections=200",
		"-c", "logging_collector=off",
		"-c", "log_min_messages=warning",
	}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	// A server's first look at a stale pid file may take the recycled pid for a
	// running server; readiness is told by the file that this server writes.
	_ = os.Remove(l.pidFile())
	p, err := startProcess(l.command(context.WithoutCancel(ctx), "postgres", args...), l.logger)
	if err != nil {
		return nil, fmt.Errorf("start Postgres: %w", err)
	}
	cluster := &Cluster{socketDir: socketDir, process: p, removes: removes}
	err = l.awaitReady(ctx, p)
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return nil, errors.Join(err, cluster.Stop(closing))
	}
	return cluster, nil
}

// socketDir is the cluster's own folder unless its path is too long for a socket;
// then it is a temporary one, which is the second value, to be removed at the end.
func (l launcher) socketDir() (string, string, error) {
	own := filepath.Join(l.dir, "socket")
	if len(own)+len("/.s.PGSQL.5432.lock") < maxSocketPath-10 {
		return own, "", l.account.makeDir(own)
	}
	temporary, err := os.MkdirTemp("", "fathom-pg-")
	if err != nil {
		return "", "", fmt.Errorf("make a folder for the server's socket: %w", err)
	}
	return temporary, temporary, l.account.own(temporary)
}

// awaitReady polls the pid file: its eighth line becomes "ready".
func (l launcher) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for Postgres to accept connections: %w", ctx.Err())
		case <-p.exited:
			return fmt.Errorf("start Postgres on %s: it ended: %s", l.data(), p.lastOutput())
		case <-tick.C:
		}
		content, err := os.ReadFile(l.pidFile())
		if err != nil {
			continue
		}
		lines := strings.Split(string(content), "\n")
		if len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" && lines[0] == strconv.Itoa(p.pid) {
			return nil
		}
	}
}

// command prepares one of Postgres's programs, run as the server's user in a
// folder that this user may enter.
func (l launcher) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(l.bin, name), args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+l.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.account.credential, Setpgid: true}
	return cmd
}

func tail(output []byte) string {
	const limit = 2000
	text := strings.TrimSpace(string(output))
	if len(text) > limit {
		text = "…" + text[len(text)-limit:]
	}
	return text
}
