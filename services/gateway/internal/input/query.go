package input

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// Query checks the parameters of a request's address: only allowed ones, each once,
// valid text.
func Query(r *http.Request, allowed ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem.Invalid("", "The query part of the address can't be read: it must be name=value pairs with %-escapes")
	}
	for name, given := range values {
		if !slices.Contains(allowed, name) {
			return nil, problem.Invalid("", fmt.Sprintf("Unknown parameter %q", cut(strings.ToValidUTF8(name, "\ufffd"), maxName)))
		}
		if len(given) > 1 {
			return nil, problem.Invalid(name, name+" is given twice")
		}
		err = Text(name, given[0])
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Text checks a text that did not come as JSON.
func Text(name, value string) error {
	if !utf8.ValidString(value) {
		return problem.Invalid(name, name+" must be valid UTF-8")
	}
	if strings.ContainsRune(value, 0) {
		return problem.Invalid(name, name+" must not contain NUL characters")
	}
	return nil
}

// Integer reads a parameter that must be an integer from low to high when it is given.
func Integer(name, value string, low, high int32) (int32, error) {
	if value == "" {
		return 0, nil
	}
	number, err := strconv.ParseInt(value, 10, 32)
	if err != nil || int32(number) < low || int32(number) > high {
		return 0, problem.Invalid(name, fmt.Sprintf("%s must be an integer from %d to %d", name, low, high))
	}
	return int32(number), nil
}

// maxKey bounds an idempotency key in bytes.
const maxKey = 255

// IdempotencyKey checks the header of that name; empty is none.
func IdempotencyKey(key string) error {
	printable := !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) > maxKey || !printable {
		return problem.Invalid("Idempotency-Key", fmt.Sprintf("Idempotency-Key must be at most %d printable ASCII characters", maxKey))
	}
	return nil
}
