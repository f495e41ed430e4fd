package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// titleOf is the page's own title: the one it gives to those who share it, its
// only main heading, or the title element without the site's name.
func titleOf(doc *html.Node, meta map[string]string) string {
	title := ""
	if n := find(doc, atom.Title); n != nil {
		title = squash(cleanText(innerText(n)))
	}
	heading := ""
	if h1s := collect(doc, atom.H1); len(h1s) == 1 {
		heading = squash(cleanText(innerText(h1s[0])))
	}
	shared := squash(cleanText(firstOf(meta, "og:title", "twitter:title", "dc.title", "citation_title")))
	switch {
	case heading != "" && (strings.Contains(title, heading) || strings.Contains(shared, heading)):
		return heading
	case shared != "":
		return withoutSite(shared, firstOf(meta, "og:site_name"))
	case title != "":
		return withoutSite(title, firstOf(meta, "og:site_name"))
	}
	return heading
}

// withoutSite cuts the site's name off the end of a title.
func withoutSite(title, site string) string {
	for _, sep := range []string{" | ", " - ", " – ", " — ", " :: ", " · "} {
		at := strings.LastIndex(title, sep)
		if at <= 0 {
			continue
		}
		rest := strings.TrimSpace(title[at+len(sep):])
		if site != "" && strings.EqualFold(rest, site) || site == "" && countWords(rest) <= 4 && countWords(title[:at]) >= 3 {
			return strings.TrimSpace(title[:at])
		}
	}
	return title
}

// metaOf reads the meta elements of a page by name or property, in lower case;
// the first of a name counts.
func metaOf(doc *html.Node) map[string]string {
	meta := map[string]string{}
	for _, n := range collect(doc, atom.Meta) {
		content := strings.TrimSpace(attr(n, "content"))
		if content == "" {
			continue
		}
		for _, key := range []string{"property", "name", "itemprop", "http-equiv"} {
			name := strings.ToLower(strings.TrimSpace(attr(n, key)))
			if name == "" {
				continue
			}
			if _, ok := meta[name]; !ok {
				meta[name] = content
			}
		}
	}
	return meta
}

func firstOf(meta map[string]string, names ...string) string {
	for _, name := range names {
		if v := meta[name]; v != "" {
			return v
		}
	}
	return ""
}

// collect returns the elements of a tag below n, in order.
func collect(n *html.Node, tag atom.Atom) []*html.Node {
	var found []*html.Node
	for m := range n.Descendants() {
		if m.Type == html.ElementNode && m.DataAtom == tag {
			found = append(found, m)
		}
	}
	return found
}
