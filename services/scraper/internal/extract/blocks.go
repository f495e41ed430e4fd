package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// block is a run of text that a page shows as one piece: a paragraph, a
// heading, a cell, a menu's entry.
type block struct {
	nodes  []*html.Node // its text nodes, in order
	parent int          // the element that holds it, in outline.elements
	text   string       // with squashed white space
	tokens []uint64     // its words, hashed
	linked int          // words inside links
	breaks int          // line breaks inside
	bold   int          // words in bold or emphasis
	starts int          // words of the page before it
	once   bool         // no other block has its text
	copy   int          // blocks before it with its text
	groups groupSet     // of the inline elements inside
}

// element is a node of the tree with what was summed up over its blocks.
type element struct {
	node    *html.Node
	parent  int // -1 at the root
	depth   int
	groups  groupSet
	words   int
	linked  int
	blocks  int
	long    int // words in blocks that read like prose
	twins   int // siblings with the same tag and class
	index   int // its place among its parent's children elements
	heading int // headings below it
}

// outline is a page as its blocks in reading order and the elements around them.
type outline struct {
	blocks   []block
	elements []element
	words    int
	title    string
	styles   []textStyle // of the blocks, once they were asked for
}

// proseWords is how long a block with few links is when it reads like prose.
const proseWords = 20

// outlineOf cuts the tree of a page into blocks.
func outlineOf(root *html.Node, title string) *outline {
	o := &outline{title: title}
	c := cutter{outline: o}
	c.walk(root, -1, 0, 0, 0)
	c.flush(0)
	o.sum()
	return o
}

// cutter walks a tree and collects the block that it is in.
type cutter struct {
	outline *outline
	nodes   []*html.Node
	text    strings.Builder
	linked  int
	bold    int
	breaks  int
	lastBr  bool
	groups  groupSet
}

func (c *cutter) walk(n *html.Node, parent, depth, links, bold int) {
	switch n.Type {
	case html.TextNode:
		c.add(n, parent, links, bold)
		return
	case html.ElementNode:
	default:
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			c.walk(child, parent, depth, links, bold)
		}
		return
	}
	switch n.DataAtom {
	case atom.Head:
		return
	case atom.Br:
		c.lineBreak(parent)
		return
	case atom.A:
		links++
	case atom.B, atom.Strong, atom.Em:
		bold++
	}
	breaks := blockElements[n.DataAtom]
	if breaks {
		c.flush(parent)
	}
	self := len(c.outline.elements)
	c.outline.elements = append(c.outline.elements, element{node: n, parent: parent, depth: depth, groups: groupsOf(n)})
	twins := map[string]int{}
	index := 0
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		at := len(c.outline.elements)
		c.walk(child, self, depth+1, links, bold)
		if child.Type == html.ElementNode && at < len(c.outline.elements) {
			c.outline.elements[at].index = index
			index++
			twins[twinKey(child)]++
		}
	}
	c.countTwins(self, twins)
	if breaks {
		c.flush(self)
	}
}

// holder is the element that a block belongs to: the innermost one that begins
// a line.
func (c *cutter) holder(at int) int {
	for at > 0 && !blockElements[c.outline.elements[at].node.DataAtom] {
		at = c.outline.elements[at].parent
	}
	return at
}

func twinKey(n *html.Node) string { return n.Data + " " + attr(n, "class") }

func (c *cutter) countTwins(parent int, twins map[string]int) {
	for i := parent + 1; i < len(c.outline.elements); i++ {
		e := &c.outline.elements[i]
		if e.parent == parent {
			e.twins = twins[twinKey(e.node)]
		}
	}
}

func (c *cutter) add(n *html.Node, parent, links, bold int) {
	if strings.TrimSpace(n.Data) == "" {
		c.text.WriteByte(' ')
		return
	}
	c.lastBr = false
	for at := parent; at > 0 && !blockElements[c.outline.elements[at].node.DataAtom]; at = c.outline.elements[at].parent {
		c.groups |= c.outline.elements[at].groups
	}
	c.nodes = append(c.nodes, n)
	c.text.WriteString(n.Data)
	if links > 0 {
		c.linked += countWords(n.Data)
	}
	if bold > 0 {
		c.bold += countWords(n.Data)
	}
}

// lineBreak ends a block at the second of two line breaks, which is how old
// pages part their paragraphs.
func (c *cutter) lineBreak(parent int) {
	c.text.WriteByte(' ')
	if c.lastBr {
		c.flush(parent)
		return
	}
	c.lastBr = true
	c.breaks++
}

func (c *cutter) flush(parent int) {
	text := squash(c.text.String())
	if text != "" && len(c.nodes) > 0 {
		c.outline.blocks = append(c.outline.blocks, block{
			nodes: c.nodes, parent: c.holder(max(parent, 0)), text: text, tokens: tokensOf(text),
			linked: c.linked, breaks: c.breaks, bold: c.bold, groups: c.groups,
		})
	}
	c.text.Reset()
	c.nodes, c.linked, c.breaks, c.bold, c.lastBr, c.groups = nil, 0, 0, 0, false, 0
}

// sum fills in what the blocks and the elements know of one another.
func (o *outline) sum() {
	seen := map[string]int{}
	for i := range o.blocks {
		b := &o.blocks[i]
		b.copy = seen[b.text]
		seen[b.text]++
		b.starts = o.words
		o.words += len(b.tokens)
		prose := 0
		if b.isProse() {
			prose = len(b.tokens)
		}
		heading := o.isHeading(i)
		for at := b.parent; at >= 0; at = o.elements[at].parent {
			e := &o.elements[at]
			e.words += len(b.tokens)
			e.linked += b.linked
			e.long += prose
			e.heading += heading
			e.blocks++
		}
	}
	for i := range o.blocks {
		o.blocks[i].once = seen[o.blocks[i].text] == 1
	}
}

func (b *block) isProse() bool {
	return len(b.tokens) >= proseWords && b.linked*3 < len(b.tokens)
}

func headingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return int(n.Data[1] - '0')
	}
	return 0
}

func (o *outline) textStyles() []textStyle {
	if o.styles == nil {
		o.styles = make([]textStyle, len(o.blocks))
		for i := range o.blocks {
			o.styles[i] = styleOf(o.blocks[i].text)
		}
	}
	return o.styles
}
