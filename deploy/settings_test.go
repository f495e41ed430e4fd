package deploy_test

import (
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/services/analyzer"
	"github.com/fathom-research/fathom/services/gateway"
	"github.com/fathom-research/fathom/services/planner"
	"github.com/fathom-research/fathom/services/reporter"
	"github.com/fathom-research/fathom/services/scraper"
	"github.com/fathom-research/fathom/services/searcher"
	"github.com/fathom-research/fathom/services/state"
)

// secrets are those that docs/kubernetes.md has made; the repository has none.
var secrets = map[string]map[string]string{
	"fathom-database": {"url": "postgres://fathom:x@postgres:5432/fathom", "password": "x"},
	"fathom-nats":     {"FATHOM_NATS_URL": "nats://fathom:x@nats.example.com:4222"},
	"fathom-llm":      {"FATHOM_LLM_BASE_URL": "https://llm.example.com/v1", "FATHOM_LLM_API_KEY": "x", "FATHOM_LLM_MODEL": "m"},
}

// program is where a workload's program reads its environment.
type program struct {
	folders []string
	// configs makes what is loaded; the proxy's is its main's own.
	configs func() []any
}

func programs() map[string]program {
	worker := func(name string, cfg func() any, folders ...string) program {
		return program{
			folders: append([]string{"services/" + name, "platform/process"}, folders...),
			configs: func() []any { return []any{&process.Settings{}, cfg()} },
		}
	}
	return map[string]program{
		"gateway":       {folders: []string{"services/gateway"}, configs: func() []any { return []any{&gateway.Config{}} }},
		"state":         worker("state", func() any { return &state.Config{} }),
		"planner":       worker("planner", func() any { return &planner.Config{} }, "llm"),
		"searcher":      worker("searcher", func() any { return &searcher.Config{} }),
		"scraper":       worker("scraper", func() any { return &scraper.Config{} }),
		"analyzer":      worker("analyzer", func() any { return &analyzer.Config{} }, "llm"),
		"reporter":      worker("reporter", func() any { return &reporter.Config{} }, "llm"),
		"scraper-proxy": {folders: []string{"services/scraper/cmd/proxy"}, configs: func() []any { return nil }},
	}
}

var tag = regexp.MustCompile(`env:"(FATHOM_[A-Z_]+)"`)

// variables are those that the program declares, and the log's.
func (p program) variables(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{"FATHOM_LOG_FORMAT": true, "FATHOM_LOG_LEVEL": true}
	for _, folder := range p.folders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, m := range tag.FindAllStringSubmatch(string(source), -1) {
				found[m[1]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	return found
}

// environment is what the container's process sees; own has only what the container
// itself names, without ConfigMaps and Secrets that it shares with others.
func (m manifests) environment(t *testing.T, w workload) (map[string]string, map[string]string) {
	t.Helper()
	all, own := make(map[string]string), make(map[string]string)
	for _, source := range w.container().EnvFrom {
		values := map[string]string{}
		switch {
		case source.ConfigMapRef != nil:
			require.Contains(t, m.configs, source.ConfigMapRef.Name, w.name)
			values = m.configs[source.ConfigMapRef.Name].Data
		case source.SecretRef != nil:
			require.Contains(t, secrets, source.SecretRef.Name, w.name)
			values = secrets[source.SecretRef.Name]
		}
		for name, value := range values {
			all[name] = value
		}
	}
	for _, variable := range w.container().Env {
		value := variable.Value
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			ref := variable.ValueFrom.SecretKeyRef
			require.Contains(t, secrets[ref.Name], ref.Key, w.name)
			value = secrets[ref.Name][ref.Key]
		}
		require.NotContains(t, own, variable.Name, "twice in %s", w.name)
		all[variable.Name], own[variable.Name] = value, value
	}
	return all, own
}

// declarations are the variables of each program, and those of all.
func declarations(t *testing.T) (map[string]map[string]bool, map[string]bool) {
	t.Helper()
	each, all := make(map[string]map[string]bool), make(map[string]bool)
	for name, p := range programs() {
		each[name] = p.variables(t)
		maps.Copy(all, each[name])
	}
	return each, all
}

func TestDocumentNamesRealVariables(t *testing.T) {
	t.Parallel()
	_, everybody := declarations(t)
	document, err := os.ReadFile("../docs/kubernetes.md")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`FATHOM_[A-Z_]*[A-Z]`).FindAllString(string(document), -1) {
		require.True(t, everybody[name], "docs/kubernetes.md names %s", name)
	}
	for secret := range secrets {
		require.Contains(t, string(document), "create secret generic "+secret+" ")
	}
}

func checkVariablesExist(t *testing.T, m manifests) {
	t.Helper()
	declared, everybody := declarations(t)
	for _, w := range m.ours() {
		all, own := m.environment(t, w)
		for name := range all {
			require.True(t, everybody[name] || strings.HasPrefix(name, "OTEL_"), "%s is read by nobody", name)
		}
		for name := range own {
			require.True(t, declared[w.name][name], "%s does not read %s", w.name, name)
		}
	}
}

// Every service accepts its environment: nothing is missing, nothing is malformed.
func checkServicesAcceptTheirSettings(t *testing.T, m manifests) {
	t.Helper()
	for _, w := range m.ours() {
		all, _ := m.environment(t, w)
		for _, cfg := range programs()[w.name].configs() {
			require.NoError(t, config.LoadFrom(cfg, all), w.name)
		}
		p := programs()[w.name]
		if p.variables(t)["FATHOM_NATS_URL"] {
			require.NotEmpty(t, all["FATHOM_NATS_URL"], "%s would look for NATS in its own pod", w.name)
		}
	}
	all, _ := m.environment(t, m.workloads["gateway"])
	require.NotEmpty(t, all["FATHOM_STATE_ADDR"])
}

// What a service is told to listen on or to call is a port that is there.
func checkAddresses(t *testing.T, m manifests) {
	t.Helper()
	listens := map[string]map[string]string{
		"gateway": {"FATHOM_HTTP_ADDR": "http"}, "state": {"FATHOM_STATE_ADDR": "grpc"},
		"scraper-proxy": {"FATHOM_PROXY_ADDR": "proxy"},
	}
	for _, w := range m.ours() {
		all, _ := m.environment(t, w)
		for variable, port := range listens[w.name] {
			require.Equal(t, ":"+strconv.Itoa(int(portNamed(w.container(), port))), all[variable], w.name)
		}
		if w.name != "gateway" {
			var defaults process.Settings
			require.NoError(t, config.LoadFrom(&defaults, all))
			require.Equal(t, defaults.HealthAddr, ":"+strconv.Itoa(int(portNamed(w.container(), "health"))), w.name)
		}
		for _, variable := range []string{"FATHOM_NATS_URL", "FATHOM_SEARXNG_URL", "FATHOM_SCRAPER_PROXY", "FATHOM_DATABASE_URL"} {
			address, err := url.Parse(all[variable])
			require.NoError(t, err)
			m.requireServed(t, w.name, address.Host)
		}
	}
	all, _ := m.environment(t, m.workloads["gateway"])
	m.requireServed(t, "gateway", all["FATHOM_STATE_ADDR"])
}

// requireServed looks for hosts of one word, which are services of the namespace.
func (m manifests) requireServed(t *testing.T, name, address string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if address == "" || strings.Contains(host, ".") {
		return
	}
	require.NoError(t, err, name)
	if host == "postgres" && m.services[host] == nil {
		return // the sample of a Secret that names another one
	}
	require.Contains(t, m.services, host, "%s calls it", name)
	for _, served := range m.services[host].Spec.Ports {
		if strconv.Itoa(int(served.Port)) == port {
			return
		}
	}
	require.Fail(t, "nobody serves "+address)
}

// A stopping pod has the time that its service asks for.
func checkPodsMayFinish(t *testing.T, m manifests) {
	t.Helper()
	const (
		flush = 5 * time.Second  // of telemetry
		grace = 20 * time.Second // of a worker's running tasks
	)
	for _, w := range m.ours() {
		all, _ := m.environment(t, w)
		needed := 10 * time.Second
		switch w.name {
		case "gateway":
			var cfg gateway.Config
			require.NoError(t, config.LoadFrom(&cfg, all))
			require.Positive(t, cfg.DrainDelay, "balancers learn late that a pod stops")
			needed = cfg.DrainDelay + cfg.Grace
		case "planner", "searcher", "scraper", "analyzer", "reporter":
			var settings process.Settings
			require.NoError(t, config.LoadFrom(&settings, all))
			needed = grace + settings.AckWait // what does not heed its end is waited for
		}
		if hook := w.container().Lifecycle; hook != nil && hook.PreStop.Sleep != nil {
			needed += time.Duration(hook.PreStop.Sleep.Seconds) * time.Second
		}
		given := time.Duration(*w.template.Spec.TerminationGracePeriodSeconds) * time.Second
		require.GreaterOrEqual(t, given, needed+flush, w.name)
	}
}
