package extract

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// toUTF8 decodes a body by its byte order mark, the charset of its content type
// and its meta elements, and last by what its bytes look like. Bytes that make
// sense as UTF-8 only, or make none as UTF-8, are believed before a declaration.
func toUTF8(body []byte, contentType string) []byte {
	enc := encodingOf(body, contentType)
	if enc == unicode.UTF8 {
		return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return bytes.TrimPrefix(out, []byte("\xef\xbb\xbf"))
}

func encodingOf(body []byte, contentType string) encoding.Encoding {
	declared, name, certain := charset.DetermineEncoding(body, contentType)
	if isMarked(body) || bytes.ContainsAny(body, "\x00\x1b") {
		return declared
	}
	good, broken := sequences(body)
	switch {
	case broken == 0 || good > 10*broken && (name == "utf-8" || !certain):
		return unicode.UTF8
	case name != "utf-8" && certain:
		return declared
	}
	if late := lateEncoding(body); late != nil && late != unicode.UTF8 {
		return late
	}
	if good >= broken {
		return unicode.UTF8
	}
	usual, _ := charset.Lookup("windows-1252")
	return usual
}

func isMarked(body []byte) bool {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return true
		}
	}
	return false
}

// sequences counts the characters beyond ASCII that are well-formed UTF-8, and
// the bytes that are not.
func sequences(body []byte) (int, int) {
	good, broken := 0, 0
	for len(body) > 0 {
		if body[0] < utf8.RuneSelf {
			body = body[1:]
			continue
		}
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			broken++
		} else {
			good++
		}
		body = body[size:]
	}
	return good, broken
}

// declaration is where a page or an XML document names its charset.
var declaration = regexp.MustCompile(`(?i)<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*["']?([\w-]+)`)

// lateEncoding is the charset that a page names further down than browsers look
// for it, or nil.
func lateEncoding(body []byte) encoding.Encoding {
	found := declaration.FindSubmatch(body[:min(len(body), 64<<10)])
	if found == nil {
		return nil
	}
	enc, _ := charset.Lookup(string(found[1]))
	return enc
}
