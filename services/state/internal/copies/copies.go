// Package copies tells whether two pages are the same one: under another address,
// as its print view, or syndicated.
package copies

import (
	"hash/fnv"
	"net/url"
	"strings"
	"unicode"
)

const (
	// Near is the most bits of 64 by which the SimHashes (Charikar 2002) of near-copies
	// differ. Manku, Jain and Das Sarma (2007) take 3 for whole web pages; of main text
	// alone that finds a minority of print views, and 10 nearly all. It only
	// proposes: Same decides on the words.
	Near = 10
	// Related is as far as two pages may differ that name the same canonical address.
	// Many sites name their front page, or the first of a series, on every page: those
	// are not alike.
	Related = 16
)

const (
	// fewest is how many words a text needs to be a near-copy: a form with one value
	// filled in differently is short.
	fewest = 100
	// run is how many words in a row are compared at once.
	run = 3
	// edge is how many words at either end of a text may be its own: a byline, a
	// credit, "print this page". In long texts it is a share of them.
	edge      = 20
	edgeShare = 20
	// moreShare bounds what the longer text may have beside the shorter one.
	moreShare = 10
)

// Same reports whether one of two texts says, word for word, all that the other
// says, and little more. Only the first and last words of the shorter may be its
// own: what it says otherwise in the middle is another name or figure in the same form.
func Same(a, b string) bool {
	shorter, longer := wordsOf(a), wordsOf(b)
	if len(shorter) > len(longer) {
		shorter, longer = longer, shorter
	}
	if len(shorter) < fewest || len(longer)-len(shorter) > 2*edge+len(shorter)/moreShare {
		return false
	}
	known := make(map[uint64]struct{}, len(longer))
	for i := range len(longer) - run + 1 {
		known[hashOf(longer[i:i+run])] = struct{}{}
	}
	own := max(edge, len(shorter)/edgeShare)
	missing := 0
	for i := own; i < len(shorter)-own-run+1; i++ {
		_, found := known[hashOf(shorter[i:i+run])]
		if found {
			missing = 0
			continue
		}
		missing++
		// Words that the longer text puts in between part fewer runs than a word that
		// it lacks.
		if missing == run {
			return false
		}
	}
	return true
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func hashOf(words []string) uint64 {
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(word))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// Identity is the address that a page goes by: its canonical link, or else where it
// was read in the end. A link to another site is not believed: whoever alters a story
// would name its true address. It is empty for one that says nothing, like a front
// page that every page of a site names.
func Identity(canonical, final string) string {
	if final != "" && siteOf(canonical) != siteOf(final) {
		canonical = ""
	}
	for _, address := range []string{canonical, final} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		host := strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(u.Host, ".")), "www.")
		path := strings.TrimSuffix(u.EscapedPath(), "/")
		if path == "" && u.RawQuery == "" {
			return ""
		}
		return host + path + "?" + u.RawQuery
	}
	return ""
}

// siteOf is the registrable domain of an address, or its host where there is none.
func siteOf(address string) string {
	domain := Domain(address)
	if domain != "" {
		return domain
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
