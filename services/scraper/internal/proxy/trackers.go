package proxy

import (
	_ "embed"
	"strings"
)

//go:embed trackers.txt
var trackerList string

// trackers are the domains of advertising, analytics and recordings of visitors.
func trackers() map[string]bool {
	domains := make(map[string]bool)
	for line := range strings.Lines(trackerList) {
		domain := strings.TrimSpace(line)
		if domain != "" && !strings.HasPrefix(domain, "#") {
			domains[domain] = true
		}
	}
	return domains
}

func (p *Proxy) isTracker(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for {
		if p.blocked[host] {
			return true
		}
		_, rest, found := strings.Cut(host, ".")
		if !found {
			return false
		}
		host = rest
	}
}
