package ladder

import (
	"net/url"
	"strconv"
	"strings"
)

// maxRefreshWait is the longest wait after which a refresh still is a redirect and
// not a page that renews itself.
const maxRefreshWait = 5

// refreshTarget is where <meta http-equiv="refresh"> leads, or empty when it does
// not lead to another page.
func (o outline) refreshTarget(base string) string {
	wait, rest, found := strings.Cut(strings.ReplaceAll(o.refresh, ",", ";"), ";")
	seconds, err := strconv.ParseFloat(strings.TrimSpace(wait), 64)
	if !found || err != nil || seconds < 0 || seconds > maxRefreshWait {
		return ""
	}
	key, target, found := strings.Cut(strings.TrimSpace(rest), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(key), "url") {
		return ""
	}
	from, err := url.Parse(base)
	if err != nil {
		return ""
	}
	to, err := from.Parse(strings.Trim(strings.TrimSpace(target), `"'`))
	if err != nil || to.String() == base {
		return ""
	}
	return to.String()
}
