package extract

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// PageKinds are the kinds of pages that are told apart, in the order of their
// forests in the model. A document that is no page of the web is kindDocument.
var PageKinds = []string{"article", "documentation", "forum", "listing", "product", "service", "collection"}

const (
	kindArticle  = 0 // in PageKinds
	kindDocument = "document"
)

// schemaTypes are families of schema.org types, each a feature.
var schemaTypes = []string{
	"article newsarticle blogposting reportagenewsarticle analysisnewsarticle opinionnewsarticle liveblogposting",
	"techarticle apireference howto course learningresource",
	"discussionforumposting qapage question answer comment socialmediaposting",
	"product offer aggregateoffer productgroup individualproduct",
	"itemlist collectionpage searchresultspage offercatalog",
	"service localbusiness professionalservice medicalbusiness financialservice softwareapplication webapplication",
	"faqpage", "webpage", "website", "organization", "breadcrumblist", "person",
}

// declaredKind is the kind that a page's structured data or its og:type tell
// outright, or nothing. Both stand first in the row of a page. Pages of all kinds
// have answers to frequent questions, and lists of products.
func declaredKind(page []float32) string {
	const article, question, faq, ogArticle, ogProduct = 0, 2, 6, 12, 13
	says := func(feature int) bool { return len(page) > feature && page[feature] > 0 }
	switch {
	case says(article) || says(ogArticle):
		return ""
	case says(question) && !says(faq):
		return "forum"
	case says(ogProduct):
		return "product"
	}
	return ""
}

// pathWords are families of words in the path of an address, each a feature.
var pathWords = []*regexp.Regexp{
	regexp.MustCompile(`(?i)/(blogs?|news|articles?|stor(y|ies)|posts?|magazine|opinion|20\d\d)(/|$)`),
	regexp.MustCompile(`(?i)/(docs?|documentation|manual|wiki|reference|api|tutorials?|guides?|help|kb|learn|support|latest|stable|handbook|man)([/.-]|$)`),
	regexp.MustCompile(`(?i)/(forums?|threads?|topics?|viewtopic|showthread|questions?|t|community|discussions?|comments|r|answers)([/.-]|$)`),
	regexp.MustCompile(`(?i)/(products?|p|item|dp|prod|pd)([/.-]|$)`),
	regexp.MustCompile(`(?i)/(collections?|categor(y|ies)|cat|c|shop|store|browse|departments?)([/.-]|$)`),
	regexp.MustCompile(`(?i)/(services?|solutions?|features?|pricing|platform|practice-areas?|treatments?|tools?|about|programs?)([/.-]|$)`),
	regexp.MustCompile(`(?i)/(tags?|topics?|archives?|page|search|jobs|events|directory|list|resources|careers|courses|paths?)([/.-]|$)`),
	regexp.MustCompile(`/20\d\d[/-]`),
	regexp.MustCompile(`\d{4,}`),
	regexp.MustCompile(`\.(html?|php|aspx?)$`),
}

var hostWords = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(docs?|developer|developers|help|support|wiki|learn|api|manual|readthedocs)\.|readthedocs|wiki`),
	regexp.MustCompile(`(?i)forum|community|discuss|stackexchange|stackoverflow|reddit|board|answers|quora`),
	regexp.MustCompile(`(?i)shop|store`),
	regexp.MustCompile(`(?i)blog|news|times|post|daily|magazine`),
	regexp.MustCompile(`(?i)\.(gov|edu|org)(\.|$)`),
}

// generators are families of software that makes pages, each a feature.
var generators = []*regexp.Regexp{
	regexp.MustCompile(`(?i)discourse|phpbb|xenforo|vbulletin|mybb|invision|simple machines|flarum|vanilla`),
	regexp.MustCompile(`(?i)docusaurus|sphinx|mkdocs|mediawiki|gitbook|hugo|jekyll|antora|vitepress|starlight|doxygen|javadoc`),
	regexp.MustCompile(`(?i)shopify|woocommerce|magento|prestashop|bigcommerce`),
	regexp.MustCompile(`(?i)wordpress`),
	regexp.MustCompile(`(?i)elementor|webflow|squarespace|wix|framer|hubspot`),
}

// countedTags are elements whose share among a page's elements is a feature.
var countedTags = []atom.Atom{
	atom.Pre, atom.Code, atom.Table, atom.Time, atom.Article, atom.Li, atom.P, atom.H2, atom.H3, atom.Img,
	atom.Button, atom.Form, atom.Blockquote, atom.Dt, atom.A, atom.Input, atom.Section,
}

// signals is what a page's head, its address and its raw tree tell of its kind.
// It is read before anything is taken out of the tree.
func signals(doc *html.Node, m *metadata, base *url.URL) []float32 {
	var v vector
	for _, family := range schemaTypes {
		hit := false
		for _, t := range strings.Fields(family) {
			hit = hit || m.structured.types[t]
		}
		v.flag(hit)
	}
	og := strings.ToLower(m.meta["og:type"])
	v.flag(og == "article")
	v.flag(strings.Contains(og, "product"))
	v.flag(og == "website")
	v.flag(og == "")
	v.flag(m.meta["article:published_time"] != "")
	v.flag(m.meta["author"] != "" || m.structured.author != "")
	v.flag(!m.published.IsZero())
	v.log(countWords(m.title))
	v.flag(strings.HasSuffix(m.title, "?"))
	path, host := "", ""
	if base != nil {
		path, host = base.Path, base.Hostname()
	}
	trimmed := strings.Trim(path, "/")
	v.add(float32(strings.Count(trimmed, "/")))
	v.flag(trimmed == "")
	v.add(float32(strings.Count(trimmed[strings.LastIndexByte(trimmed, '/')+1:], "-")))
	v.flag(base != nil && base.RawQuery != "")
	for _, re := range pathWords {
		v.flag(re.MatchString(path))
	}
	for _, re := range hostWords {
		v.flag(re.MatchString(host))
	}
	counts, total := map[atom.Atom]int{}, 0
	body := ""
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		total++
		counts[n.DataAtom]++
		if n.DataAtom == atom.Body || n.DataAtom == atom.Html {
			body += " " + attr(n, "class") + " " + attr(n, "id")
		}
	}
	made := m.meta["generator"] + " " + body
	for _, re := range generators {
		v.flag(re.MatchString(made))
	}
	for _, tag := range countedTags {
		v.share(counts[tag], total)
	}
	set := groupsIn(body)
	for _, g := range []group{groupForum, groupProduct, groupArticle, groupCard, groupTopic} {
		v.flag(set&(1<<g) != 0)
	}
	return v.at
}

// kindFeatures adds what the blocks of a page tell to its signals.
func (o *outline) kindFeatures(signals []float32) []float32 {
	d := describer{o: o}
	v := vector{at: append([]float32(nil), signals...)}
	v.add(d.pageFeatures()...)
	dates, prices, replies, questions, steps := 0, 0, 0, 0, 0
	largest, styles := 0, o.textStyles()
	for i := range o.blocks {
		b := &o.blocks[i]
		s := &styles[i]
		if s.dateLike {
			dates++
		}
		if s.priced {
			prices++
		}
		if s.phrases[5] {
			replies++
		}
		if strings.HasSuffix(b.text, "?") {
			questions++
		}
		if o.elements[b.parent].node.DataAtom == atom.Pre {
			steps++
		}
		if b.isProse() {
			largest = max(largest, len(b.tokens))
		}
	}
	for _, n := range []int{dates, prices, replies, questions, steps} {
		v.share(n, len(o.blocks))
		v.log(n)
	}
	v.log(largest)
	v.add(o.concentration()...)
	return v.at
}

// concentration is how much of a page's prose the elements with the most of it
// hold, going down from the root while one child has nearly all of it.
func (o *outline) concentration() []float32 {
	if len(o.elements) == 0 {
		return []float32{0, 0, 0}
	}
	children := map[int][]int{}
	for i := 1; i < len(o.elements); i++ {
		children[o.elements[i].parent] = append(children[o.elements[i].parent], i)
	}
	at, total := 0, o.elements[0].long
	for {
		next := -1
		for _, c := range children[at] {
			if o.elements[c].long*10 >= o.elements[at].long*8 && o.elements[c].long > 0 {
				next = c
			}
		}
		if next < 0 {
			break
		}
		at = next
	}
	e := &o.elements[at]
	var v vector
	v.share(e.words, o.words)
	v.share(e.long, max(total, 1))
	v.share(len(children[at]), 1)
	return v.at
}
