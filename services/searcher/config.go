package searcher

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config is the searcher's configuration.
type Config struct {
	// URL is the SearXNG instance that is asked. Its JSON format must be switched on.
	URL string `env:"FATHOM_SEARXNG_URL"`
	// Concurrency is how many searches this pod works on at once.
	Concurrency int `env:"FATHOM_SEARCHER_CONCURRENCY" envDefault:"16"`
	// Timeout bounds one request to SearXNG, which itself waits for its engines.
	Timeout time.Duration `env:"FATHOM_SEARCHER_TIMEOUT" envDefault:"12s"`
	// Pages bounds the result pages that one search reads until its limit is full.
	Pages int `env:"FATHOM_SEARCHER_PAGES" envDefault:"3"`
	// HostConcurrency is how many requests all pods together have open at the
	// instance; 0 is no bound.
	HostConcurrency int `env:"FATHOM_SEARCHER_HOST_CONCURRENCY" envDefault:"16"`
	// HostGap is the shortest time between two requests of all pods to the instance.
	HostGap time.Duration `env:"FATHOM_SEARCHER_HOST_GAP" envDefault:"0s"`
	// HostWait is how long a search may wait in its slot for its turn before it is
	// put off.
	HostWait time.Duration `env:"FATHOM_SEARCHER_HOST_WAIT" envDefault:"5s"`
}

// Validate checks the rules that the types don't express.
func (c Config) Validate() error {
	_, err := c.base()
	mistakes := []error{err}
	if c.Concurrency < 1 || c.Concurrency > 1024 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_CONCURRENCY is %d: it must be 1 to 1024", c.Concurrency))
	}
	if c.Timeout < 100*time.Millisecond || c.Timeout > 5*time.Minute {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_TIMEOUT is %s: it must be 100ms to 5m", c.Timeout))
	}
	if c.Pages < 1 || c.Pages > 20 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_PAGES is %d: it must be 1 to 20", c.Pages))
	}
	if c.HostConcurrency < 0 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_HOST_CONCURRENCY is %d: it must not be negative", c.HostConcurrency))
	}
	if c.HostGap < 0 || c.HostGap > time.Hour {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_HOST_GAP is %s: it must be 0 to 1h", c.HostGap))
	}
	if c.HostWait < 0 || c.HostWait > time.Minute {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_SEARCHER_HOST_WAIT is %s: it must be 0 to 1m", c.HostWait))
	}
	return errors.Join(mistakes...)
}

var errBase = errors.New("FATHOM_SEARXNG_URL must be the http or https address of a SearXNG, for instance http://127.0.0.1:8888")

func (c Config) base() (*url.URL, error) {
	base, err := url.Parse(c.URL)
	// url's own error would repeat the address with its password.
	if err != nil || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, errBase
	}
	if base.Scheme != "http" && base.Scheme != "https" {
		return nil, errBase
	}
	return base, nil
}
