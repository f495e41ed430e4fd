// Package extract turns the body of a document into the text that a person
// reads in it: clean Markdown with its sections, and what the document says of
// itself.
package extract

import (
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
// without any text.
func Page(doc Document) (*workv1.Page, error) {
	return nil, fault.Permanent(fault.Unreadable, "type %q can't be read", doc.ContentType)
}
