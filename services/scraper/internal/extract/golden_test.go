package extract

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// pageOf reads one of the pages in testdata.
func pageOf(t *testing.T, name string) *workv1.Page {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	page, err := Page(Document{URL: "https://www.example.org/2025/" + name, ContentType: "text/html; charset=utf-8", Body: body})
	require.NoError(t, err)
	checkSections(t, page)
	return page
}

// checkSections checks what every page promises of its sections.
func checkSections(t *testing.T, page *workv1.Page) {
	t.Helper()
	at := int32(0)
	for _, s := range page.GetSections() {
		require.GreaterOrEqual(t, s.GetStart(), at)
		require.Greater(t, s.GetEnd(), s.GetStart())
		require.Empty(t, strings.TrimSpace(page.GetText()[at:s.GetStart()]), "text between two sections")
		at = s.GetEnd()
	}
	require.Empty(t, strings.TrimSpace(page.GetText()[at:]), "text after the last section")
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"article", "forum", "documentation", "product", "listing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := pageOf(t, name+".html")
			file := filepath.Join("testdata", name+".md")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(page.GetText()+"\n"), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), page.GetText()+"\n")
			require.Equal(t, name, page.GetKind())
		})
	}
}

func TestArticleMetadata(t *testing.T) {
	t.Parallel()
	page := pageOf(t, "article.html")
	require.Equal(t, "Tide mills are turning again", page.GetTitle())
	require.Equal(t, "Ida Marsh", page.GetAuthor())
	require.Equal(t, "The Harbour Post", page.GetSite())
	require.Equal(t, "en-GB", page.GetLanguage())
	require.Equal(t, "https://www.example.org/2025/tide-mills", page.GetCanonicalUrl())
	require.Equal(t, "2025-03-14T07:30:00Z", page.GetPublished().AsTime().Format("2006-01-02T15:04:05Z07:00"))
	require.Len(t, page.GetContentHash(), 64)
}

func TestSectionsFollowHeadings(t *testing.T) {
	t.Parallel()
	page := pageOf(t, "article.html")
	var paths []string
	for _, s := range page.GetSections() {
		paths = append(paths, strings.Join(s.GetHeadingPath(), "/"))
	}
	require.Contains(t, paths, "How the wheel works")
}
