package robots

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// maxBytes is how much of a file RFC 9309 asks crawlers to read at least.
const maxBytes = 500 << 10

const maxPath = 2048

// rules are what one site says to one crawler. The zero value lets everything be read.
type rules struct {
	group *robotstxt.Group
	delay time.Duration
	// failure closes the site altogether.
	failure error
}

func (r *rules) allows(path string) bool {
	return r.group == nil || r.group.Test(path)
}

// parse reads a robots.txt. There is no broken one: what can't be understood is
// ignored, line by line, as the RFC has it.
func parse(body []byte, agent string) *rules {
	if len(body) > maxBytes {
		body = body[:maxBytes]
	}
	data, err := robotstxt.FromBytes(normalize(body))
	if err != nil {
		// normalize leaves nothing that the parser refuses but a path whose wildcards
		// are no expression; such a file says nothing that can be obeyed.
		return &rules{}
	}
	group := data.FindGroup(agent)
	return &rules{group: group, delay: min(group.CrawlDelay, maxDelay)}
}

// normalize rewrites a file into what the parser reads as the RFC means it. The
// parser gives up on a whole file for one bad line, joins a group that only has an
// empty Disallow with the one after it, and lets the earlier of two equally long
// rules win instead of the one that allows.
func normalize(body []byte) []byte {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	var out bytes.Buffer
	var allows, disallows []string
	grouped := false
	flush := func() {
		for _, rule := range append(allows, disallows...) {
			out.WriteString(rule + "\n")
		}
		allows, disallows = nil, nil
	}
	for line := range strings.FieldsFuncSeq(string(body), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), cleanValue(value)
		switch {
		case key == "user-agent" && value != "":
			flush()
			grouped = true
			out.WriteString("User-agent: " + value + "\n")
		case !grouped:
		case key == "allow" && value != "":
			allows = append(allows, "Allow: "+value)
		case key == "disallow":
			disallows = append(disallows, "Disallow: "+orNothing(value))
		case key == "crawl-delay" && isDelay(value):
			disallows = append(disallows, "Crawl-delay: "+value)
		}
	}
	flush()
	return out.Bytes()
}

// orNothing replaces an empty path, which forbids nothing, by one that no path matches.
func orNothing(path string) string {
	if path == "" {
		return "/$nothing"
	}
	return path
}

// cleanValue keeps the first word, since paths have no spaces, and nothing of one
// that is longer than any path that could match.
func cleanValue(value string) string {
	fields := strings.Fields(strings.ToValidUTF8(value, ""))
	if len(fields) == 0 || len(fields[0]) > maxPath {
		return ""
	}
	return fields[0]
}

func isDelay(value string) bool {
	seconds, err := strconv.ParseFloat(value, 64)
	return err == nil && seconds >= 0 && seconds < math.MaxInt32
}
