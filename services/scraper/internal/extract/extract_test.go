package extract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
)

func TestPageRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	_, err := Page(Document{URL: "https://example.org/a.png", ContentType: "image/png", Body: []byte("\x89PNG\r\n\x1a\n0000")})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Unreadable, f.Code)
	require.Contains(t, f.Message, "image/png")
}

func TestPageWithoutText(t *testing.T) {
	t.Parallel()
	_, err := Page(Document{URL: "https://example.org/", ContentType: "text/html", Body: []byte("<html><body><script>x()</script></body></html>")})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Empty, f.Code)
}

func TestPageKeepsTheOnlyText(t *testing.T) {
	t.Parallel()
	page, err := Page(Document{URL: "https://example.org/", ContentType: "text/html", Body: []byte("<html><body><nav><a href=/a>Home</a></nav></body></html>")})
	require.NoError(t, err)
	require.Contains(t, page.GetText(), "Home")
}
