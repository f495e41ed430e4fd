package extract

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"google.golang.org/protobuf/types/known/timestamppb"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// readHTML finds the main content of a page of the web.
func readHTML(doc Document) (*workv1.Page, error) {
	s, err := NewSample(doc)
	if err != nil {
		return nil, err
	}
	model := trained()
	page := &workv1.Page{
		CanonicalUrl: s.about.canonical, Title: s.about.title, Author: s.about.author, Site: s.about.site,
		Language: s.about.language, Kind: model.kindOf(s.page), ContentType: "text/html",
		Text: s.outline.render(s.tree, model.choose(s), s.base),
	}
	if !s.about.published.IsZero() {
		page.Published = timestamppb.New(s.about.published)
	}
	return page, nil
}

// baseOf is what the links of a page are relative to.
func baseOf(tree *html.Node, address string) *url.URL {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		base = nil
	}
	for n := range tree.Descendants() {
		if n.Type != html.ElementNode || n.Data != "base" {
			continue
		}
		href, err := url.Parse(strings.TrimSpace(attr(n, "href")))
		if err != nil {
			break
		}
		if base != nil {
			href = base.ResolveReference(href)
		}
		if href.Host != "" && (href.Scheme == "http" || href.Scheme == "https") {
			// The host decides on features of the page, so it stays the one that answered.
			if base != nil && href.Host != base.Host {
				break
			}
			return href
		}
		break
	}
	return base
}

// render writes the chosen blocks, or all of them when nothing would be left.
func (o *outline) render(tree *html.Node, keep []bool, base *url.URL) string {
	kept := make([]*block, 0, len(o.blocks))
	for i := range o.blocks {
		if keep[i] {
			kept = append(kept, &o.blocks[i])
		}
	}
	if text := cleanText(renderMarkdown(tree, kept, base)); strings.TrimSpace(text) != "" {
		return text
	}
	kept = kept[:0]
	for i := range o.blocks {
		kept = append(kept, &o.blocks[i])
	}
	return cleanText(renderMarkdown(tree, kept, base))
}
