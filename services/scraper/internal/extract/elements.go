package extract

import "golang.org/x/net/html/atom"

// tagSet is a set of elements.
type tagSet map[atom.Atom]bool

func tags(of ...atom.Atom) tagSet {
	s := make(tagSet, len(of))
	for _, a := range of {
		s[a] = true
	}
	return s
}

var (
	// blockElements begin a line of their own.
	blockElements = tags(
		atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Button, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Li,
		atom.Main, atom.Menu, atom.Nav, atom.Noscript, atom.Ol, atom.P, atom.Pre, atom.Search, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr,
		atom.Ul, atom.Video,
	)
	voidElements = tags(
		atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input,
		atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr,
	)
	// closesItself are elements whose end tag is often left out.
	closesItself = tags(
		atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Thead, atom.Tbody,
		atom.Tfoot, atom.Option, atom.Optgroup, atom.Html, atom.Head, atom.Body,
	)
	// invisibleElements have no text that a person reads.
	invisibleElements = tags(
		atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Svg, atom.Canvas,
		atom.Object, atom.Embed, atom.Applet, atom.Input, atom.Select, atom.Textarea, atom.Datalist,
		atom.Audio, atom.Video, atom.Head, atom.Title, atom.Meta, atom.Link, atom.Map, atom.Progress,
		atom.Meter, atom.Frameset, atom.Noframes, atom.Rp,
	)
)
