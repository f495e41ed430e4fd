// Package normalize says when two search hits are the same page.
package normalize

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxURL bounds a URL in bytes, as found and as normalized: browsers and servers
// agree on about this much.
const MaxURL = 2048

// Reasons why a URL is not one that can be fetched and cited.
var (
	ErrLength     = errors.New("is empty or too long")
	ErrCharacters = errors.New("holds control characters or broken text")
	ErrScheme     = errors.New("is neither http nor https")
	ErrUserInfo   = errors.New("carries a user name or password")
	ErrHost       = errors.New("has no host")
)

// URL is the form that identifies a page: parsed as browsers do, scheme and host in
// lower case, without default port, fragment and tracking parameters. The path keeps
// its case, since servers may tell its cases apart. URL(URL(x)) is URL(x).
func URL(raw string) (string, error) {
	if raw == "" || len(raw) > MaxURL {
		return "", ErrLength
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, unprintable) {
		return "", ErrCharacters
	}
	parsed, err := whatwg.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("can't be parsed: %w", err)
	}
	if parsed.Scheme() != "http" && parsed.Scheme() != "https" {
		return "", ErrScheme
	}
	if parsed.Username() != "" || parsed.Password() != "" {
		return "", ErrUserInfo
	}
	if parsed.Hostname() == "" {
		return "", ErrHost
	}
	normal := parsed.Scheme() + "://" + parsed.Host() + parsed.Pathname() + query(parsed.Query())
	if len(normal) > MaxURL {
		return "", ErrLength
	}
	return normal, nil
}

// unprintable also takes U+FFFD: it stands where a byte was lost, so the URL is not
// the page's any more.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
