package document

import (
	"mime"
	"strconv"
	"strings"
)

// The forms of a report.
const (
	markdown = "text/markdown"
	html     = "text/html"
	asJSON   = "application/json"
)

// choose picks the form that the Accept header wants most: by quality, then by how
// exactly it is named. Markdown is what everything else gets, so that a report is
// never refused for a header.
func choose(accept string) string {
	best, bestQuality, bestExactness := markdown, 0.0, 0
	for _, form := range []string{markdown, html, asJSON} {
		quality, exactness := rate(accept, form)
		if quality > bestQuality || quality == bestQuality && exactness > bestExactness {
			best, bestQuality, bestExactness = form, quality, exactness
		}
	}
	return best
}

// rate is the quality that accept gives to form, by its most exact range.
func rate(accept, form string) (float64, int) {
	quality, exactness := 0.0, 0
	for entry := range strings.SplitSeq(accept, ",") {
		media, parameters, err := mime.ParseMediaType(entry)
		if err != nil {
			continue
		}
		how := exact(media, form)
		if how <= exactness {
			continue
		}
		exactness, quality = how, 1
		given, err := strconv.ParseFloat(parameters["q"], 64)
		if err == nil {
			quality = min(max(given, 0), 1)
		}
	}
	return quality, exactness
}

func exact(media, form string) int {
	kind, _, _ := strings.Cut(form, "/")
	switch media {
	case form:
		return 3
	case kind + "/*":
		return 2
	case "*/*":
		return 1
	default:
		return 0
	}
}
