// Package stack runs all of Fathom in one process: the services that would be pods,
// with an embedded NATS, a private Postgres and a corpus where nothing else is given.
package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/pgcluster"
	"github.com/fathom-research/fathom/platform/rpc"
	"github.com/fathom-research/fathom/platform/run"
)

// stopTimeout is how long the private Postgres may take for its last checkpoint.
const stopTimeout = 20 * time.Second

// Config says what to run.
type Config struct {
	Settings Settings
	// Environment is that of the services.
	Environment map[string]string
	// Idle leaves the workers out: researches can be looked at and controlled, and
	// none goes on.
	Idle    bool
	Logger  *slog.Logger
	Metrics http.Handler
}

// Stack is a started stack. Its addresses are reserved; Run serves on them.
type Stack struct {
	cfg      Config
	folder   *folder
	cluster  *pgcluster.Cluster
	nats     *messaging
	library  *library
	rest     net.Listener
	state    net.Listener
	conn     *grpc.ClientConn
	core     []run.Part
	workers  []run.Part
	builtin  bool
	searches string
}

// Start locks the data folder, starts what the services need and builds them. The
// caller calls Run or Close.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	s := &Stack{cfg: cfg}
	err := s.start(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	var err error
	s.folder, err = openFolder(s.cfg.Settings.DataDir)
	if err != nil {
		return err
	}
	err = s.listen(ctx)
	if err != nil {
		return err
	}
	found := map[string]string{"FATHOM_DATABASE_URL": s.cfg.Settings.DatabaseURL}
	if s.cfg.Settings.DatabaseURL == "" {
		s.cluster, err = pgcluster.Start(ctx, pgcluster.Config{Dir: s.folder.path + "/postgres", Logger: s.cfg.Logger})
		if err != nil {
			return err
		}
		found["FATHOM_DATABASE_URL"] = s.cluster.URL()
	}
	s.nats, err = openNATS(s.cfg.Settings.NATSURL, s.folder.path)
	if err != nil {
		return err
	}
	s.searches = s.cfg.Settings.SearXNGURL
	if s.cfg.Settings.SearXNGURL == "" && !s.cfg.Idle {
		s.library, err = openLibrary(ctx, s.cfg.Settings.CorpusDir, s.cfg.Settings.CorpusAddr, s.folder.path, s.cfg.Logger)
		if err != nil {
			return err
		}
		s.searches = s.library.name
		for name, value := range ownCorpus(s.cfg.Environment, s.library.addr()) {
			found[name] = value
		}
	}
	return s.build(forServices(s.cfg.Environment, found))
}

// listen reserves the addresses first, since a taken port is what most often goes
// wrong, and before anything else was done is the best time to learn it.
func (s *Stack) listen(ctx context.Context) error {
	var err error
	s.rest, err = listen(ctx, s.cfg.Settings.HTTPAddr)
	if err != nil {
		return fmt.Errorf("%w: another program, or a fathom on another data folder, is there; choose another address with --http", err)
	}
	s.state, err = listen(ctx, s.cfg.Settings.StateAddr)
	if err != nil {
		return fmt.Errorf("%w: choose another FATHOM_STATE_ADDR", err)
	}
	s.conn, err = rpc.Dial(s.state.Addr().String())
	return err
}

// URL is the gateway's address.
func (s *Stack) URL() string { return "http://" + s.rest.Addr().String() }

// StateAddr is where state serves gRPC.
func (s *Stack) StateAddr() string { return s.state.Addr().String() }

// Searches says what is searched: a SearXNG's address, a folder, or the sample corpus.
func (s *Stack) Searches() string { return s.searches }

// SearchesCorpus reports whether the stack searches documents instead of the web.
func (s *Stack) SearchesCorpus() bool { return s.library != nil }

// Builtin reports whether Fathom's own engine works in place of a model.
func (s *Stack) Builtin() bool { return s.builtin }

// Run serves until ctx ends or a part fails, then stops everything: the workers first,
// so that state still takes what they hand in.
func (s *Stack) Run(ctx context.Context) error {
	err := s.folder.announce(Running{PID: os.Getpid(), URL: s.URL(), State: s.StateAddr()})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	core := s.core
	if s.library != nil {
		core = append(core, run.Part{Name: "corpus", Run: func(ctx context.Context) error {
			return s.library.corpus.Serve(ctx, s.library.listener)
		}})
	}
	if s.cluster != nil {
		core = append(core, run.Part{Name: "postgres", Run: s.watchCluster})
	}
	later, stopCore := context.WithCancel(context.WithoutCancel(ctx))
	defer stopCore()
	err = run.All(ctx,
		run.Part{Name: "workers", Run: func(ctx context.Context) error {
			defer stopCore()
			err := s.work(ctx)
			s.nats.settle(later)
			return err
		}},
		run.Part{Name: "core", Run: func(context.Context) error { return run.All(later, core...) }},
	)
	return errors.Join(err, s.Close())
}

func (s *Stack) work(ctx context.Context) error {
	if len(s.workers) == 0 {
		<-ctx.Done()
		return nil
	}
	return run.All(ctx, s.workers...)
}

func (s *Stack) watchCluster(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.cluster.Exited():
		return errors.New("the private Postgres has ended")
	}
}

// Close stops what Start has started. It is safe to call twice.
func (s *Stack) Close() error {
	var failures []error
	if s.conn != nil {
		failures = append(failures, s.conn.Close())
		s.conn = nil
	}
	for _, listener := range []net.Listener{s.rest, s.state} {
		if listener != nil {
			// The services close theirs when they have run.
			_ = listener.Close()
		}
	}
	if s.library != nil {
		failures = append(failures, s.library.close())
		s.library = nil
	}
	if s.nats != nil {
		s.nats.close()
		s.nats = nil
	}
	if s.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		failures = append(failures, s.cluster.Stop(ctx))
		s.cluster = nil
	}
	if s.folder != nil {
		failures = append(failures, s.folder.close())
		s.folder = nil
	}
	return errors.Join(failures...)
}

// openBus makes the one Bus that all services of the process share.
func (s *Stack) openBus() (*bus.Bus, error) {
	return bus.Open(s.nats.conn, bus.Options{Logger: s.cfg.Logger})
}
