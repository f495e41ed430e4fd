package chaos

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fathom-research/fathom/platform/faultpoint"
	"github.com/fathom-research/fathom/platform/pgcluster"
)

// site is a whole Fathom of separate processes.
type site struct {
	bin, dir string
	outside  Outside
	opts     Options
	client   *client
	keepers  []*keeper

	natsPort  int
	stateAddr string
	httpAddr  string

	postgres      *pgcluster.Cluster
	postgresKills int
	mu            sync.Mutex
	inFlight      int
}

// atFaultPoint marks the deaths that a process died by itself.
const atFaultPoint = " at a fault point"

// replicas is how many processes each part has. The parts that are addressed
// directly have one; the workers share their consumers.
var replicas = []struct {
	part  string
	count int
}{
	{"state", 1}, {"gateway", 1}, {"planner", 2}, {"searcher", 2}, {"scraper", 2}, {"analyzer", 2}, {"reporter", 1},
}

func startSite(ctx context.Context, bin, dir string, outside Outside, opts Options) (*site, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	s := &site{
		bin: bin, dir: dir, outside: outside, opts: opts,
		natsPort: ports[0], stateAddr: address(ports[1]), httpAddr: address(ports[2]),
	}
	s.client = &client{base: "http://" + s.httpAddr, http: &http.Client{Timeout: 150 * time.Second}}
	err = s.startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	s.keep("nats", "nats", 0)
	for _, row := range replicas {
		for i := range row.count {
			s.keep(row.part, row.part+"-"+strconv.Itoa(i), opts.FaultPoints)
		}
	}
	for _, k := range s.keepers {
		err = k.start()
		if err != nil {
			s.stop()
			return nil, err
		}
	}
	for _, addr := range []string{address(s.natsPort), s.stateAddr, s.httpAddr} {
		err = awaitOpen(ctx, addr)
		if err != nil {
			s.stop()
			return nil, err
		}
	}
	return s, nil
}

func (s *site) startPostgres(ctx context.Context) error {
	cluster, err := pgcluster.Start(ctx, pgcluster.Config{Dir: filepath.Join(s.dir, "postgres")})
	if err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	s.postgres = cluster
	return nil
}

func (s *site) databaseURL() string { return s.postgres.URL() }

func (s *site) keep(part, name string, faultPoints float64) {
	k := &keeper{name: name, part: part, output: s.opts.Output, onDeath: s.noteInFlight}
	k.command = func() *exec.Cmd {
		if part == "nats" {
			return exec.Command(filepath.Join(s.bin, "natsd"), "-port", strconv.Itoa(s.natsPort), "-store", filepath.Join(s.dir, "nats"))
		}
		cmd := exec.Command(filepath.Join(s.bin, part))
		cmd.Env = append(os.Environ(), s.environment(faultPoints)...)
		return cmd
	}
	s.keepers = append(s.keepers, k)
}

func (s *site) environment(faultPoints float64) []string {
	environment := []string{
		"FATHOM_DATABASE_URL=" + s.databaseURL(),
		"FATHOM_NATS_URL=nats://" + address(s.natsPort),
		"FATHOM_STATE_ADDR=" + s.stateAddr,
		"FATHOM_HTTP_ADDR=" + s.httpAddr,
		"FATHOM_HEALTH_ADDR=127.0.0.1:0",
		"FATHOM_SEARXNG_URL=" + s.outside.SearchURL,
		"FATHOM_SCRAPER_MODE=http",
		"FATHOM_SCRAPER_ALLOW=" + strings.Join(s.outside.Hosts, ","),
		"FATHOM_SCRAPER_GAP=0s",
		"FATHOM_LLM_PROVIDER=openai",
		"FATHOM_LLM_BASE_URL=" + s.outside.ModelURL,
		"FATHOM_LLM_MODEL=fake",
		"FATHOM_LLM_API_KEY=fake",
		"FATHOM_ACK_WAIT=3s",
		"FATHOM_LOG_LEVEL=warn",
		"GOMAXPROCS=2",
	}
	if faultPoints > 0 {
		var points []string
		for _, name := range []string{"commit.before", "commit.after", "publish.before", "publish.after"} {
			points = append(points, name+"="+strconv.FormatFloat(faultPoints, 'f', -1, 64))
		}
		environment = append(environment, faultpoint.Variable+"="+strings.Join(points, ","))
	}
	return environment
}

// victim is something to kill; kill reports whether there was something alive.
type victim struct {
	name string
	kill func(context.Context) (bool, error)
}

// victims are all processes and Postgres.
func (s *site) victims() []victim {
	victims := []victim{{"postgres", func(ctx context.Context) (bool, error) { return true, s.killPostgres(ctx) }}}
	for _, k := range s.keepers {
		victims = append(victims, victim{k.name, func(context.Context) (bool, error) { return k.kill(syscall.SIGKILL) }})
	}
	return victims
}

// killPostgres ends it as a power failure would and starts it again.
func (s *site) killPostgres(ctx context.Context) error {
	s.mu.Lock()
	s.postgresKills++
	s.mu.Unlock()
	immediate, cancel := context.WithCancel(ctx)
	cancel()
	err := s.postgres.Stop(immediate)
	if err != nil {
		return err
	}
	return s.startPostgres(context.WithoutCancel(ctx))
}

// noteInFlight adds the model calls that a death may have cost: they may be paid twice.
func (s *site) noteInFlight() {
	n := s.outside.InFlight()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
}

func (s *site) killed() (map[string]int, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kills := map[string]int{"postgres": s.postgresKills}
	for _, k := range s.keepers {
		k.mu.Lock()
		kills[k.part] += k.kills
		if k.ownDeaths > 0 {
			kills[k.part+atFaultPoint] += k.ownDeaths
		}
		k.mu.Unlock()
	}
	return kills, s.inFlight
}

// stop ends everything, the services before what they stand on.
func (s *site) stop() {
	var group sync.WaitGroup
	for _, k := range s.keepers[1:] {
		group.Go(k.stop)
	}
	group.Wait()
	s.keepers[0].stop()
	closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = s.postgres.Stop(closing)
}

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = listener.Close() }()
		addr, _ := listener.Addr().(*net.TCPAddr)
		ports[i] = addr.Port
	}
	return ports, nil
}
