// Package extract turns the body of a document into the text that a person
// reads in it: clean Markdown with its sections, and what the document says of
// itself.
package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Document is what was fetched.
type Document struct {
	// URL is the one that was asked for, FinalURL the one that answered.
	URL, FinalURL string
	// ContentType is the header as it was served, parameters included.
	ContentType string
	// Body is decoded from its content encoding, not from its charset.
	Body []byte
}

// Page reads a document. Its errors are *fault.Error: Unreadable for a type or
// content that can't be read, with the type named, and Empty for a document
// without any text. It never panics.
func Page(doc Document) (*workv1.Page, error) {
	kind := mediaOf(doc)
	read, ok := readers[kind]
	if !ok {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s can't be read", kind)
	}
	if doc.FinalURL == "" {
		doc.FinalURL = doc.URL
	}
	page, err := safely(kind, doc, read)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(page.GetText()) == "" {
		return nil, fault.Permanent(fault.Empty, "document of type %s has no text", kind)
	}
	page.FinalUrl = doc.FinalURL
	page.ContentType = kind
	finishPage(page)
	return page, nil
}

type reader func(Document) (*workv1.Page, error)

// safely turns the panic of a parser into an error: a hostile document must not
// end the process.
func safely(kind string, doc Document, read reader) (*workv1.Page, error) {
	var page *workv1.Page
	err := errors.New("reader gave up")
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				page, err = nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %v", kind, cause)
			}
		}()
		page, err = read(doc)
	}()
	if err != nil {
		return nil, err
	}
	return page, nil
}

// finishPage fills in what follows from a page's text.
func finishPage(page *workv1.Page) {
	sum := sha256.Sum256([]byte(page.GetText()))
	page.ContentHash = hex.EncodeToString(sum[:])
	page.Similarity = simhash(page.GetText())
	if page.GetSections() == nil {
		page.Sections = sectionsOf(page.GetText())
	}
	for _, field := range []*string{&page.Title, &page.Author, &page.Site, &page.Language, &page.CanonicalUrl, &page.FinalUrl} {
		if !utf8.ValidString(*field) {
			*field = strings.ToValidUTF8(*field, "")
		}
	}
}
