package gateway

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Config is the gateway's configuration.
type Config struct {
	// Addr is where REST is served. There is no access control yet, so it is the
	// loopback address unless somebody decides otherwise.
	Addr string `env:"FATHOM_HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	// MaxBody bounds a request's body in bytes; it is checked before decoding.
	MaxBody int64 `env:"FATHOM_HTTP_MAX_BODY" envDefault:"2097152"`
	// Timeout is the longest that a request may wait for its answer; streams of
	// events are not bounded.
	Timeout time.Duration `env:"FATHOM_HTTP_TIMEOUT" envDefault:"10m"`
	// Heartbeat is the longest silence on a stream of events.
	Heartbeat time.Duration `env:"FATHOM_HTTP_HEARTBEAT" envDefault:"15s"`
	// DrainDelay is how long requests are still served after the gateway became
	// unready, so that balancers have seen it.
	DrainDelay time.Duration `env:"FATHOM_HTTP_DRAIN_DELAY" envDefault:"0s"`
	// Grace is how long running requests may go on after that.
	Grace time.Duration `env:"FATHOM_HTTP_GRACE" envDefault:"20s"`
}

// Validate checks the rules that the types don't express.
func (c Config) Validate() error {
	var mistakes []error
	_, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_ADDR is %q: it must be host:port", c.Addr))
	}
	if c.MaxBody < 64<<10 || c.MaxBody > 64<<20 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_MAX_BODY is %d: it must be 65536 to 67108864", c.MaxBody))
	}
	if c.Timeout < time.Second {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_TIMEOUT is %s: it must be at least 1s", c.Timeout))
	}
	if c.Heartbeat <= 0 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_HEARTBEAT is %s: it must be positive", c.Heartbeat))
	}
	if c.DrainDelay < 0 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_DRAIN_DELAY is %s: it must not be negative", c.DrainDelay))
	}
	if c.Grace <= 0 {
		mistakes = append(mistakes, fmt.Errorf("FATHOM_HTTP_GRACE is %s: it must be positive", c.Grace))
	}
	return errors.Join(mistakes...)
}
