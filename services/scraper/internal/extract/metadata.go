package extract

import (
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// metadata is what a page says of itself.
type metadata struct {
	title, author, site, language, canonical string
	published                                time.Time
	meta                                     map[string]string
	structured                               structured
}

func metadataOf(doc *html.Node, base *url.URL) metadata {
	m := metadata{meta: metaOf(doc), structured: structuredOf(doc)}
	m.title = titleOf(doc, m.meta)
	m.author = m.findAuthor(doc)
	m.site = squash(cleanText(orElse(firstOf(m.meta, "og:site_name", "application-name", "citation_journal_title"), m.structured.publisher)))
	if m.site == "" && base != nil {
		m.site = strings.TrimPrefix(base.Hostname(), "www.")
	}
	m.language = m.findLanguage(doc)
	m.canonical = canonicalOf(doc, m.meta, base)
	m.published = m.findPublished(doc)
	return m
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (m *metadata) findAuthor(doc *html.Node) string {
	name := orElse(firstOf(m.meta, "author", "article:author_name", "citation_author", "dc.creator", "sailthru.author", "parsely-author", "twitter:data1_author"), m.structured.author)
	if name == "" || strings.Contains(name, "://") {
		name = m.structured.author
	}
	if name == "" {
		name = byline(doc)
	}
	name = squash(cleanText(name))
	if before, rest, ok := strings.Cut(name, " "); ok && strings.EqualFold(before, "by") {
		name = rest
	}
	if len(name) > 200 {
		return ""
	}
	return name
}

// byline is the text of the element that is marked up as the author.
func byline(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if attr(n, "rel") == "author" || strings.Contains(attr(n, "itemprop"), "author") {
			if text := innerText(n); text != "" && len(text) < 100 {
				return text
			}
		}
	}
	return ""
}

// findLanguage is a language tag, its main part in lower case.
func (m *metadata) findLanguage(doc *html.Node) string {
	tag := ""
	if n := find(doc, atom.Html); n != nil {
		tag = orElse(attr(n, "lang"), attr(n, "xml:lang"))
	}
	tag = orElse(tag, orElse(m.structured.language, firstOf(m.meta, "content-language", "og:locale", "dc.language", "language")))
	tag = strings.TrimSpace(strings.ReplaceAll(tag, "_", "-"))
	tag, _, _ = strings.Cut(tag, ",")
	main, rest, regional := strings.Cut(tag, "-")
	main = strings.ToLower(main)
	if len(main) < 2 || len(main) > 3 || strings.Trim(main, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	if regional && len(rest) <= 10 {
		return main + "-" + rest
	}
	return main
}

// canonicalOf is the address that a page calls its own, or nothing when it gives
// none that can be fetched.
func canonicalOf(doc *html.Node, meta map[string]string, base *url.URL) string {
	href := ""
	for _, n := range collect(doc, atom.Link) {
		if strings.EqualFold(strings.TrimSpace(attr(n, "rel")), "canonical") {
			href = attr(n, "href")
			break
		}
	}
	href = strings.TrimSpace(orElse(href, meta["og:url"]))
	if href == "" {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

func (m *metadata) findPublished(doc *html.Node) time.Time {
	for _, value := range []string{
		m.structured.published,
		firstOf(m.meta, "article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date"),
		firstOf(m.meta, "parsely-pub-date", "sailthru.date", "dc.date", "dc.date.issued", "dcterms.created", "publish-date", "pubdate", "date"),
	} {
		if t, ok := parseDate(value); ok {
			return t
		}
	}
	for _, n := range collect(doc, atom.Time) {
		if t, ok := parseDate(attr(n, "datetime")); ok {
			return t
		}
	}
	return time.Time{}
}

var dateLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006-01",
	time.RFC1123, time.RFC1123Z, "January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "20060102",
	"Mon Jan 2 15:04:05 MST 2006", "January 2, 2006 15:04",
}

// parseDate reads a date that a page gives, when it is one that a page can have.
func parseDate(value string) (time.Time, bool) {
	value = strings.TrimSpace(value)
	if value == "" || len(value) > 60 {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, value)
		if err == nil && t.Year() >= 1900 && t.Before(time.Now().AddDate(1, 0, 0)) {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
