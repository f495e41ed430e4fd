package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"
)

// readPDF takes the text layer; a scan has none and is left out. The library
// panics on some broken files, which must not end the server.
func readPDF(body []byte) (*Document, error) {
	var document *Document
	err := guard(func() error {
		r, err := pdf.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		text := pdfText(r)
		if text == "" {
			return errors.New("a PDF without a text layer")
		}
		document = &Document{Title: collapse(r.Trailer().Key("Info").Key("Title").Text()), Text: text}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if document.Title == "" {
		first, _, _ := strings.Cut(document.Text, "\n")
		document.Title = first[:min(len(first), 120)]
	}
	return document, nil
}

// pdfText joins the pages; a page that can't be read is left out.
func pdfText(r *pdf.Reader) string {
	var text strings.Builder
	fonts := make(map[string]*pdf.Font)
	for number := 1; number <= r.NumPage(); number++ {
		_ = guard(func() error {
			page, err := r.Page(number).GetPlainText(fonts)
			text.WriteString(page)
			text.WriteByte('\n')
			return err
		})
	}
	return strings.ToValidUTF8(tidy(text.String()), "")
}

func guard(fn func() error) error {
	var failure error
	func() {
		defer func() {
			if r := recover(); r != nil {
				failure = fmt.Errorf("broken PDF: %v", r)
			}
		}()
		failure = fn()
	}()
	return failure
}
