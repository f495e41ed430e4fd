package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// consentNames are words in the names of elements that ask for consent: plain
// ones, and those of the services that make such dialogs.
var consentNames = []string{
	"cookie", "consent", "gdpr", "ccpa", "onetrust", "didomi", "usercentrics", "trustarc", "truste", "iubenda", "osano",
	"termly", "quantcast", "qc-cmp", "sp_message", "fc-dialog", "ensmodal", "cmpbox", "cky-", "cmplz",
}

// removeConsent takes dialogs that ask for consent out of the tree: elements that
// are named so, speak of cookies, and hold but a small part of the page's words.
func removeConsent(tree *html.Node) {
	total := -1
	var visit func(n *html.Node, depth int)
	visit = func(n *html.Node, depth int) {
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			switch {
			case c.Type != html.ElementNode || depth > deepest:
			case mayAskConsent(c):
				if total < 0 {
					total = visibleWords(tree)
				}
				if visibleWords(c)*4 <= total && strings.Contains(strings.ToLower(innerText(c)), "cookie") {
					n.RemoveChild(c)
				}
			default:
				visit(c, depth+1)
			}
			c = next
		}
	}
	visit(tree, 0)
}

func mayAskConsent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Head, atom.Body, atom.Main, atom.Article, atom.P, atom.H1, atom.H2, atom.H3, atom.A, atom.Li:
		return false
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "id", "class", "aria-label", "data-testid":
			name := strings.ToLower(a.Val)
			for _, word := range consentNames {
				if strings.Contains(name, word) {
					return true
				}
			}
		}
	}
	return false
}
