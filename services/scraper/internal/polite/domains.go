package polite

import (
	"net/url"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
)

// Domains are the operator's lists: a domain stands for its subdomains too.
type Domains struct {
	// Only, when it is not empty, are the only domains that are read.
	Only []string
	// Never are not read, whatever Only says.
	Never []string
}

// Check refuses a URL of a domain that the lists keep out.
func (d Domains) Check(u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if within(host, d.Never) {
		return fault.Permanent(fault.RefusedAddress, "the domain of %s is on the deny list", host)
	}
	if len(d.Only) > 0 && !within(host, d.Only) {
		return fault.Permanent(fault.RefusedAddress, "the domain of %s is not on the allow list", host)
	}
	return nil
}

func within(host string, domains []string) bool {
	for _, domain := range domains {
		domain = strings.ToLower(strings.Trim(domain, ". "))
		if domain != "" && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}
