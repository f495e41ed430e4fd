package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsentIsTakenOut(t *testing.T) {
	t.Parallel()
	page := "<p>" + strings.Repeat("What the page is about is told in this sentence. ", 20) + "</p>"
	dialog := "<p>Cookies are small files. We use them for all sorts of things.</p>"
	for name, c := range map[string]struct {
		html  string
		stays bool
	}{
		"dialog":                {page + `<div id="onetrust-consent-sdk">` + dialog + `</div>`, false},
		"by label":              {page + `<section aria-label="Cookie settings"><div>` + dialog + `</div></section>`, false},
		"recipe":                {page + `<div class="cookie-recipe"><p>Bake them for ten minutes.</p></div>`, true},
		"an article on cookies": {`<article class="cookies"><div class="consent-law">` + page + dialog + `</div></article>`, true},
		"nothing but that":      {`<div class="cookie-policy">` + dialog + `</div>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := parseHTML([]byte(c.html))
			require.NoError(t, err)
			before := innerText(tree)
			removeConsent(tree)
			require.Equal(t, c.stays, innerText(tree) == before)
		})
	}
}
