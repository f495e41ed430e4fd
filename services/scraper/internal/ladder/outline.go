package ladder

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxOutline is how much of a document is looked at: what decides about it stands
// at its beginning, or is missing altogether.
const maxOutline = 2 << 20

// outline is what one pass over a document's tags tells about it, without a tree.
type outline struct {
	// letters counts the letters and digits that a person would see without scripts.
	letters int
	scripts int
	// noscript is the text for people without scripts, title the document's own.
	noscript, title string
	// text is the beginning of what a person would see.
	text string
	// emptyRoot names the empty element that an application fills, emptyMain says
	// that the main element is empty.
	emptyRoot string
	emptyMain bool
	// refresh is the content of <meta http-equiv="refresh">.
	refresh string
}

const maxSample = 4096

// scan holds the state of the pass.
type scan struct {
	outline
	noscript, title, text strings.Builder
	hidden                []atom.Atom
	// roots are the open elements that would be empty in a shell, with the letters
	// counted when they opened.
	roots []root
}

type root struct {
	tag     string
	name    string
	letters int
	depth   int
}

func outlineOf(body []byte) outline {
	s := &scan{}
	tokens := html.NewTokenizer(bytes.NewReader(body[:min(len(body), maxOutline)]))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return s.finish()
		case html.StartTagToken, html.SelfClosingTagToken:
			s.open(tokens.Token())
		case html.EndTagToken:
			s.close(tokens.Token())
		case html.TextToken:
			s.read(tokens.Text())
		}
	}
}

func (s *scan) open(token html.Token) {
	switch token.DataAtom {
	case atom.Script:
		if executable(token) {
			s.scripts++
		}
		s.hide(token)
	case atom.Style, atom.Noscript, atom.Template, atom.Title, atom.Svg:
		s.hide(token)
	case atom.Meta:
		if strings.EqualFold(attribute(token, "http-equiv"), "refresh") && !slices.Contains(s.hidden, atom.Noscript) {
			s.refresh = attribute(token, "content")
		}
	}
	for i := range s.roots {
		if s.roots[i].tag == token.Data && token.Type == html.StartTagToken {
			s.roots[i].depth++
		}
	}
	name := rootName(token)
	if name != "" && token.Type == html.StartTagToken {
		s.roots = append(s.roots, root{tag: token.Data, name: name, letters: s.letters})
	}
}

func (s *scan) hide(token html.Token) {
	if token.Type == html.StartTagToken {
		s.hidden = append(s.hidden, token.DataAtom)
	}
}

func (s *scan) close(token html.Token) {
	at := len(s.hidden) - 1
	if at >= 0 && s.hidden[at] == token.DataAtom {
		s.hidden = s.hidden[:at]
	}
	kept := s.roots[:0]
	for _, r := range s.roots {
		if r.tag == token.Data {
			r.depth--
		}
		if r.depth >= 0 {
			kept = append(kept, r)
			continue
		}
		s.settle(r)
	}
	s.roots = kept
}

// settle looks at a root whose end is reached. A few letters are a spinner's.
func (s *scan) settle(r root) {
	const spinner = 40
	switch {
	case s.letters-r.letters > spinner:
	case r.name == "main":
		s.emptyMain = true
	default:
		s.emptyRoot = r.name
	}
}

func (s *scan) read(text []byte) {
	if len(s.hidden) > 0 {
		switch s.hidden[0] {
		case atom.Noscript:
			appendSample(&s.noscript, text)
		case atom.Title:
			appendSample(&s.title, text)
		}
		return
	}
	for _, r := range string(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			s.letters++
		}
	}
	appendSample(&s.text, text)
}

func (s *scan) finish() outline {
	for _, r := range s.roots {
		s.settle(r)
	}
	out := s.outline
	out.noscript, out.title, out.text = s.noscript.String(), s.title.String(), s.text.String()
	return out
}

func appendSample(to *strings.Builder, text []byte) {
	room := maxSample - to.Len()
	if room > 0 {
		to.Write(text[:min(room, len(text))])
	}
}

// executable tells scripts from the data that pages keep in script elements.
func executable(token html.Token) bool {
	kind := strings.ToLower(attribute(token, "type"))
	return kind == "" || kind == "module" || strings.Contains(kind, "javascript") || strings.Contains(kind, "ecmascript")
}

// rootName is the name of an element that an application renders itself into.
func rootName(token html.Token) string {
	if token.DataAtom == atom.Main {
		return "main"
	}
	if token.Data == "app-root" || token.Data == "ion-app" {
		return token.Data
	}
	id := attribute(token, "id")
	switch strings.ToLower(id) {
	case "root", "app", "__next", "__nuxt", "___gatsby", "react-root", "app-root", "app-mount", "svelte", "main-app", "ember-app", "q-app":
		return "#" + id
	default:
		return ""
	}
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
