package extract

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// toUTF8 decodes a body by its byte order mark, the charset of its content type,
// its meta elements, and last by what its bytes look like.
func toUTF8(body []byte, contentType string) []byte {
	enc, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && utf8.Valid(body) || name == "utf-8" {
		return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return bytes.TrimPrefix(out, []byte("\xef\xbb\xbf"))
}
