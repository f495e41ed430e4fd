package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// removeInvisible takes out of the tree what a person who looks at the page
// can't see: scripts, comments, form fields, and hidden elements. What stands in
// for scripts goes too, unless it is the page's text.
func removeInvisible(doc *html.Node) {
	instead := 0
	for _, n := range collect(doc, atom.Noscript) {
		instead += visibleWords(n)
	}
	remove(doc, instead < noscriptWords || instead < visibleWords(doc))
}

// noscriptWords is how long a text must be to be more than a request to switch
// scripts on.
const noscriptWords = 40

func remove(n *html.Node, noscript bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if isInvisible(c) || noscript && c.DataAtom == atom.Noscript {
			n.RemoveChild(c)
		} else {
			remove(c, noscript)
		}
		c = next
	}
}

// visibleWords counts the words below n that a person sees, without those that
// stand in for scripts.
func visibleWords(n *html.Node) int {
	words := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			words += countWords(c.Data)
		case !isInvisible(c) && c.DataAtom != atom.Noscript && c.DataAtom != atom.Head:
			words += visibleWords(c)
		}
	}
	return words
}

func isInvisible(n *html.Node) bool {
	switch n.Type {
	case html.CommentNode:
		return true
	case html.ElementNode:
		switch n.DataAtom {
		case atom.Html, atom.Body, atom.Head:
			// A page may hide its body until its scripts ran.
			return false
		case atom.Dialog:
			return !hasAttr(n, "open")
		}
		return invisibleElements[n.DataAtom] || n.Data == "svg" || isHidden(n)
	}
	return false
}

// isHidden tells whether an element's own attributes hide it.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			// React streams parts of a page hidden, and puts them in their place at once.
			return !strings.EqualFold(a.Val, "until-found") && !strings.HasPrefix(attr(n, "id"), "S:")
		case "style":
			if hidesByStyle(a.Val) {
				return true
			}
		}
	}
	return false
}

// hidesByStyle tells whether declarations of CSS make an element invisible.
func hidesByStyle(style string) bool {
	if style == "" {
		return false
	}
	props := declarations(style)
	if props["display"] == "none" || props["visibility"] == "hidden" || props["visibility"] == "collapse" {
		return true
	}
	if size, ok := props["font-size"]; ok && isZero(size) {
		return true
	}
	// What fades in is transparent until a script or an animation runs.
	if opacity, ok := props["opacity"]; ok && isZero(opacity) && !moves(props) {
		return true
	}
	if isZero(props["height"]) && props["overflow"] == "hidden" || isZero(props["width"]) && props["overflow"] == "hidden" {
		return true
	}
	if far(props["text-indent"]) {
		return true
	}
	position := props["position"]
	if position != "absolute" && position != "fixed" {
		return false
	}
	clip := strings.ReplaceAll(props["clip"]+props["clip-path"], " ", "")
	if strings.HasPrefix(clip, "rect(0") || strings.HasPrefix(clip, "rect(1px,1px") || strings.HasPrefix(clip, "inset(50%") || strings.HasPrefix(clip, "inset(100%") {
		return true
	}
	return far(props["left"]) || far(props["top"]) || far(props["right"]) || far(props["margin-left"])
}

func declarations(style string) map[string]string {
	props := map[string]string{}
	for part := range strings.SplitSeq(strings.ToLower(style), ";") {
		key, value, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		props[strings.TrimSpace(key)] = value
	}
	return props
}

func moves(props map[string]string) bool {
	for _, key := range []string{"transform", "transition", "animation", "will-change", "filter", "animation-name", "translate"} {
		if _, ok := props[key]; ok {
			return true
		}
	}
	return false
}

// isZero is true for "0" with any unit.
func isZero(value string) bool {
	n, ok := number(value)
	return ok && n == 0
}

// far is true for an offset that puts an element off the screen.
func far(value string) bool {
	n, ok := number(value)
	return ok && n <= -900 && !strings.HasSuffix(value, "%")
}

func number(value string) (float64, bool) {
	value = strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz% ")
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil
}
