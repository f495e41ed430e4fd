package extract

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// readHTML finds the main content of a page of the web.
func readHTML(doc Document) (*workv1.Page, error) {
	tree, err := parseHTML(toUTF8(doc.Body, doc.ContentType))
	if err != nil {
		return nil, fault.Permanent(fault.Unreadable, "page can't be parsed: %w", err)
	}
	base := baseOf(tree, doc.FinalURL)
	about := metadataOf(tree, base)
	signs := signals(tree, &about, base)
	removeInvisible(tree)
	o := outlineOf(tree, about.title)
	if len(o.blocks) == 0 {
		return nil, fault.Permanent(fault.Empty, "page has no text")
	}
	model := trained()
	kind := model.kindOf(o.kindFeatures(signs))
	text := o.render(tree, model.choose(o, tree, kind, base), base)
	page := &workv1.Page{
		CanonicalUrl: about.canonical, Title: about.title, Author: about.author, Site: about.site,
		Language: about.language, Text: text, Kind: kind.name, ContentType: "text/html",
	}
	if !about.published.IsZero() {
		page.Published = timestamppb.New(about.published)
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
