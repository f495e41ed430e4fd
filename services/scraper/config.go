package scraper

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/ladder"
)

// Config is the scraper's configuration.
type Config struct {
	// Mode is auto, chrome or http.
	Mode string `env:"FATHOM_SCRAPER_MODE" envDefault:"auto"`
	// Concurrency is how many pages are read at once; 0 is by cores and memory.
	Concurrency int `env:"FATHOM_SCRAPER_CONCURRENCY" envDefault:"0"`
	// Tabs is how many pages are open in Chrome at once; 0 is by cores and memory.
	Tabs int `env:"FATHOM_SCRAPER_TABS" envDefault:"0"`

	// Allow lists host:port pairs that may be read although they are private. A block
	// of addresses stands for all of its hosts: 10.1.0.0/16:443.
	Allow []string `env:"FATHOM_SCRAPER_ALLOW"`
	// Deny lists further addresses and blocks that are never connected to.
	Deny []string `env:"FATHOM_SCRAPER_DENY"`
	// AllowDomains, when set, are the only domains that are read.
	AllowDomains []string `env:"FATHOM_SCRAPER_ALLOW_DOMAINS"`
	// DenyDomains are never read.
	DenyDomains []string `env:"FATHOM_SCRAPER_DENY_DOMAINS"`
	// Proxy is the filtering proxy's URL when it runs by itself; empty is in the pod.
	Proxy string `env:"FATHOM_SCRAPER_PROXY"`

	UserAgent string `env:"FATHOM_SCRAPER_USER_AGENT" envDefault:"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; compatible; Fathom/1.0; +https://github.com/fathom-research/fathom) Chrome/156.0.0.0 Safari/537.36"`
	// RobotsName is the name by which robots.txt files address this crawler.
	RobotsName string `env:"FATHOM_SCRAPER_ROBOTS_NAME" envDefault:"Fathom"`
	Language   string `env:"FATHOM_SCRAPER_LANGUAGE" envDefault:"en-US,en;q=0.9,*;q=0.5"`
	// Robots is whether robots.txt is asked.
	Robots bool `env:"FATHOM_SCRAPER_ROBOTS" envDefault:"true"`
	// PerSite is the most pages of one site read at once, over all pods; 0 is no bound.
	PerSite int `env:"FATHOM_SCRAPER_PER_SITE" envDefault:"2"`
	// Gap is the shortest time between two pages of one site, over all pods.
	Gap time.Duration `env:"FATHOM_SCRAPER_GAP" envDefault:"500ms"`

	HTTPTimeout   time.Duration `env:"FATHOM_SCRAPER_HTTP_TIMEOUT" envDefault:"15s"`
	ChromeTimeout time.Duration `env:"FATHOM_SCRAPER_CHROME_TIMEOUT" envDefault:"20s"`
	// MaxBytes bounds one document, decoded.
	MaxBytes int64 `env:"FATHOM_SCRAPER_MAX_BYTES" envDefault:"10485760"`
	// RawBytes bounds the document that is kept with the page; 0 keeps none.
	RawBytes int64 `env:"FATHOM_SCRAPER_RAW_BYTES" envDefault:"10485760"`

	// ChromePath is the browser's binary; empty is looked for in the usual places.
	ChromePath string `env:"FATHOM_CHROME_PATH"`
	// ChromeUser is the user that Chrome runs as when the scraper runs as root.
	ChromeUser string `env:"FATHOM_SCRAPER_CHROME_USER"`
	// Sandbox is auto (on, but for root), on, or off.
	Sandbox string `env:"FATHOM_SCRAPER_SANDBOX" envDefault:"auto"`
	// RecyclePages is after how many pages Chrome is replaced by a fresh one.
	RecyclePages int `env:"FATHOM_SCRAPER_RECYCLE_PAGES" envDefault:"500"`
	// ChromeMemory replaces Chrome when all of it takes more; 0 is by the machine.
	ChromeMemory int64 `env:"FATHOM_SCRAPER_CHROME_MEMORY" envDefault:"0"`
	// PageMemory ends a page whose process takes more.
	PageMemory int64 `env:"FATHOM_SCRAPER_PAGE_MEMORY" envDefault:"805306368"`
}

// mostRaw is as much of a page, in bytes, as a result carries beside its text.
const mostRaw = 24 << 20

// Validate lists every rule that the configuration breaks.
func (c *Config) Validate() error {
	var mistakes []error
	demand := func(holds bool, format string, args ...any) {
		if !holds {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mode := ladder.Mode(c.Mode)
	demand(mode == ladder.Auto || mode == ladder.OnlyChrome || mode == ladder.OnlyHTTP, "FATHOM_SCRAPER_MODE must be auto, chrome or http, not %q", c.Mode)
	demand(c.Sandbox == "auto" || c.Sandbox == "on" || c.Sandbox == "off", "FATHOM_SCRAPER_SANDBOX must be auto, on or off, not %q", c.Sandbox)
	demand(c.Concurrency >= 0, "FATHOM_SCRAPER_CONCURRENCY must not be negative")
	demand(c.Tabs >= 0, "FATHOM_SCRAPER_TABS must not be negative")
	demand(c.PerSite >= 0, "FATHOM_SCRAPER_PER_SITE must not be negative")
	demand(c.Gap >= 0, "FATHOM_SCRAPER_GAP must not be negative")
	demand(c.HTTPTimeout > 0, "FATHOM_SCRAPER_HTTP_TIMEOUT must be positive")
	demand(c.ChromeTimeout > 0, "FATHOM_SCRAPER_CHROME_TIMEOUT must be positive")
	demand(c.MaxBytes > 0, "FATHOM_SCRAPER_MAX_BYTES must be positive")
	demand(c.RawBytes >= 0 && c.RawBytes <= mostRaw, "FATHOM_SCRAPER_RAW_BYTES must be from 0 to %d", mostRaw)
	demand(c.RecyclePages > 0, "FATHOM_SCRAPER_RECYCLE_PAGES must be positive")
	demand(c.ChromeMemory >= 0, "FATHOM_SCRAPER_CHROME_MEMORY must not be negative")
	demand(c.PageMemory > 0, "FATHOM_SCRAPER_PAGE_MEMORY must be positive")
	demand(c.UserAgent != "", "FATHOM_SCRAPER_USER_AGENT must not be empty")
	demand(c.RobotsName != "", "FATHOM_SCRAPER_ROBOTS_NAME must not be empty")
	_, err := guard.New(guard.Options{Allow: c.Allow})
	demand(err == nil, "FATHOM_SCRAPER_ALLOW must list host:port: %w", err)
	_, err = guard.New(guard.Options{Deny: c.Deny})
	demand(err == nil, "FATHOM_SCRAPER_DENY must list addresses: %w", err)
	_, err = c.proxyURL()
	demand(err == nil, "FATHOM_SCRAPER_PROXY must be http://host:port: %w", err)
	return errors.Join(mistakes...)
}

func (c *Config) proxyURL() (*url.URL, error) {
	if c.Proxy == "" {
		return nil, nil
	}
	proxy, err := url.Parse(c.Proxy)
	if err != nil {
		return nil, err
	}
	if proxy.Scheme != "http" || proxy.Port() == "" || proxy.User != nil {
		return nil, fmt.Errorf("%q is something else", proxy.Redacted())
	}
	return proxy, nil
}
