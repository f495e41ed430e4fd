package stack

import (
	"maps"
	"strings"

	"github.com/fathom-research/fathom/platform/config"
)

// Settings are what a stack reads of the environment besides its services' own.
type Settings struct {
	// DataDir holds the private Postgres cluster and NATS's store; empty is
	// DefaultDataDir.
	DataDir string `env:"FATHOM_DATA_DIR"`
	// DatabaseURL names a Postgres database; empty starts a private cluster.
	DatabaseURL string `env:"FATHOM_DATABASE_URL"`
	// NATSURL names a NATS server; empty embeds one.
	NATSURL string `env:"FATHOM_NATS_URL"`
	// HTTPAddr is where the gateway serves; a port of 0 takes a free one.
	HTTPAddr string `env:"FATHOM_HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	// StateAddr is where state serves gRPC, by default on a free port.
	StateAddr string `env:"FATHOM_STATE_ADDR" envDefault:"127.0.0.1:0"`
	// SearXNGURL is what is searched; empty serves a corpus instead.
	SearXNGURL string `env:"FATHOM_SEARXNG_URL"`
	// CorpusDir is the folder that is searched without SearXNG; empty is the sample.
	CorpusDir string `env:"FATHOM_CORPUS_DIR"`
	// CorpusAddr is where the corpus is served; empty is the last one, else a free port.
	CorpusAddr string `env:"FATHOM_CORPUS_ADDR"`
}

// ReadSettings fills Settings from the environment.
func ReadSettings(environment map[string]string) (Settings, error) {
	var settings Settings
	err := config.LoadFrom(&settings, environment)
	if err != nil {
		return Settings{}, err
	}
	if settings.DataDir == "" {
		settings.DataDir = DefaultDataDir(environment)
	}
	return settings, nil
}

// forServices is the environment that the services of a stack see: what the person
// has set, and where the parts are that the stack has started.
func forServices(environment map[string]string, found map[string]string) map[string]string {
	merged := maps.Clone(environment)
	maps.Copy(merged, found)
	return merged
}

// ownCorpus lets the scraper read the corpus, which is on a loopback address, and
// spares it the manners that foreign sites are owed, unless the person has set them.
func ownCorpus(environment map[string]string, addr string) map[string]string {
	found := map[string]string{
		"FATHOM_SEARXNG_URL":   "http://" + addr,
		"FATHOM_SCRAPER_ALLOW": strings.Trim(environment["FATHOM_SCRAPER_ALLOW"]+","+addr, ","),
	}
	for name, value := range map[string]string{"FATHOM_SCRAPER_GAP": "0s", "FATHOM_SCRAPER_PER_SITE": "0"} {
		if environment[name] == "" {
			found[name] = value
		}
	}
	return found
}
