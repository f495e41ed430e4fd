package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed writes a compressed file.
func packed(t *testing.T, file, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write([]byte(body))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
}

func asJSON(t *testing.T, file string, value any) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	data, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
}

// sets writes a set of articles and one of two kinds, a site for each page.
func sets(t *testing.T, size int) (string, string) {
	t.Helper()
	articles, kinds := t.TempDir(), t.TempDir()
	truths, types := map[string]any{}, map[string]any{}
	for i := range size {
		id := fmt.Sprintf("a%d", i)
		text := strings.Repeat(fmt.Sprintf("The mill of village %d ground the barley of the coast, and it does so again. ", i), 5)
		truths[id] = map[string]string{"url": "https://" + id + ".example/news/x", "articleBody": text}
		packed(t, filepath.Join(articles, "html", id+".html.gz"),
			`<meta property="og:type" content="article"><nav><a href="/">Home</a> <a href="/b">More news of today</a></nav><article><p>`+text+`</p></article><footer>All rights reserved</footer>`)

		id = fmt.Sprintf("f%d", i)
		post := fmt.Sprintf("Number %d asks what to do when the dough does not rise in winter.", i)
		types[id] = map[string]string{"page_type": "forum"}
		asJSON(t, filepath.Join(kinds, "dev", "ground-truth", id+".json"),
			map[string]any{"url": "https://" + id + ".example/t/1", "ground_truth": map[string]string{"main_content": post}})
		packed(t, filepath.Join(kinds, "dev", "html", id+".html.gz"),
			`<div class="topbar"><a href="/">Index</a></div><div class="post">`+post+`</div><div class="footer">Powered by a forum</div>`)
	}
	asJSON(t, filepath.Join(articles, "ground-truth.json"), truths)
	asJSON(t, filepath.Join(kinds, "metadata.json"), map[string]any{"files": types})
	return articles, kinds
}

func TestTrainMeasuresAndWrites(t *testing.T) {
	t.Parallel()
	articles, kinds := sets(t, 8)
	file := filepath.Join(t.TempDir(), "model.bin")
	var out bytes.Buffer
	require.NoError(t, run([]string{"-articles", articles, "-kinds", kinds, "-folds", "2", "-worst", "1", "-model", file}, &out))
	require.Contains(t, out.String(), "articles (8)")
	require.Contains(t, out.String(), "forum (8)")
	require.Contains(t, out.String(), "trafilatura")
	first, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, run([]string{"-articles", articles, "-kinds", kinds, "-model", file}, &out))
	second, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, first, second, "the same pages make the same model")
	out.Reset()
	require.NoError(t, run([]string{"-kinds", kinds, "-aside", "-use", file}, &out))
	require.Contains(t, out.String(), "fathom")
}

func TestTrainNeedsPages(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil, &bytes.Buffer{}), "-articles")
	require.Error(t, run([]string{"-articles", t.TempDir()}, &bytes.Buffer{}))
}

func TestScore(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, score("a b c d e", "a b c d e", shingle).f1(), 1e-9)
	require.Zero(t, score("a b", "", 1).f1())
	m := score("A b c d", "a b x", 1)
	require.InDelta(t, 2.0/3, m.precision, 1e-9)
	require.InDelta(t, 0.5, m.recall, 1e-9)
}

func TestSplitKeepsSitesTogether(t *testing.T) {
	t.Parallel()
	var pages []*page
	for i := range 100 {
		pages = append(pages, &page{site: fmt.Sprintf("site%d", i/2)})
	}
	where := map[string]int{}
	seen := 0
	for fold := range 5 {
		rest, one := split(pages, "salt", 5, fold)
		require.Len(t, pages, len(rest)+len(one))
		seen += len(one)
		for _, p := range one {
			at, met := where[p.site]
			require.True(t, !met || at == fold)
			where[p.site] = fold
		}
	}
	require.Equal(t, 100, seen)
}
