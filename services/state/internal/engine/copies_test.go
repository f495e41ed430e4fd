package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func article(subject string) string {
	var text strings.Builder
	for i := range 150 {
		fmt.Fprintf(&text, "%s%d ", subject, i)
	}
	return text.String()
}

// read answers a scrape with a page.
func read(task *workv1.Task, p *workv1.Page) *workv1.Result {
	result := reply(task)
	result.Payload = &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Page: p}}
	return result
}

// pages answers the scrapes with the pages at their URLs, in the order of urls.
func (w *world) pages(t *testing.T, urls []string, at map[string]*workv1.Page) {
	t.Helper()
	tasks := make(map[string]*workv1.Task)
	for _, task := range w.publish(t) {
		tasks[task.GetScrape().GetUrl()] = task
	}
	for _, url := range urls {
		require.NotNil(t, tasks[url], url)
		p := at[url]
		p.FinalUrl = url
		w.apply(t, read(tasks[url], p))
	}
}

func TestNearCopiesOfAQueryAreAnalyzedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	urls := []string{"https://a.example/story", "https://a.example/print/story", "https://b.example/syndicated", "https://a.example/other"}
	w.apply(t, found(searches[0], urls...))
	text := article("word")
	w.pages(t, urls, map[string]*workv1.Page{
		urls[0]: {Text: text, Similarity: 0xff00},
		urls[1]: {Text: "Print this page. " + text, Similarity: 0xff01},
		urls[2]: {Text: text + "First published by A.", Similarity: 0xff3e},
		// The same form, filled in with another name.
		urls[3]: {Text: strings.Replace(text, "word75", "other", 1), Similarity: 0xff02},
	})
	require.Equal(t, urls[0], w.publishOne(t).GetAnalyze().GetUrl())
	copyOf := make(map[string]string)
	for _, site := range w.record(t, id).Sites {
		copyOf[site.URL] = site.CopyOf
	}
	require.Equal(t, map[string]string{urls[0]: "", urls[1]: urls[0], urls[2]: urls[0], urls[3]: ""}, copyOf)
}

func TestPagesOfOneCanonicalAddressAreOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	urls := []string{"https://a.example/story", "https://a.example/amp/story", "https://a.example/story/2", "https://a.example/home", "https://a.example/house"}
	w.apply(t, found(searches[0], urls...))
	w.pages(t, urls, map[string]*workv1.Page{
		urls[0]: {Text: "the story", Similarity: 1},
		urls[1]: {Text: "the story, shorter", Similarity: 0xf0, CanonicalUrl: "https://www.a.example/story/"},
		// A second part that names the first, as series wrongly do, says something else.
		urls[2]: {Text: "how it went on", Similarity: 0xffffffff, CanonicalUrl: urls[0]},
		// Every page of some sites names the front page.
		urls[3]: {Text: "one", Similarity: 1 << 40, CanonicalUrl: "https://a.example/"},
		urls[4]: {Text: "two", Similarity: 3 << 40, CanonicalUrl: "https://a.example/"},
	})
	var copies []string
	for _, site := range w.record(t, id).Sites {
		if site.CopyOf != "" {
			copies = append(copies, site.URL)
		}
	}
	require.Equal(t, urls[1:2], copies)
}

// Over two queries a copy is analyzed for each objective, and what is found on it is
// cited where the page itself says it: one source. What only the copy says is cited there.
func TestCopiesAreOneSourceOfAReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	_, searches := w.planned(t, w.oneLevel(t), 2)
	w.apply(t, found(searches[0], "https://a.example/story"))
	text := "Ä " + article("word")
	w.pages(t, []string{"https://a.example/story"}, map[string]*workv1.Page{
		"https://a.example/story": {Title: "The story", Text: text, Similarity: 7},
	})
	w.apply(t, found(searches[1], "https://b.example/syndicated"))
	analyses := make(map[string]*workv1.Task)
	for _, task := range w.publish(t) {
		if bus.KindOf(task) == bus.Scrape {
			w.apply(t, read(task, &workv1.Page{Title: "Elsewhere", Text: "By B. " + text, Similarity: 3}))
			continue
		}
		analyses[task.GetAnalyze().GetUrl()] = task
	}
	second := w.publishOne(t)
	analyses[second.GetAnalyze().GetUrl()] = second
	require.Len(t, analyses, 2, "an analysis for each query")
	for _, task := range analyses {
		result := reply(task)
		body := new(workv1.AnalyzeResult)
		for _, quote := range []string{"word7 word8", "By B."} {
			at := strings.Index(task.GetAnalyze().GetText(), quote)
			if at >= 0 {
				body.Extractions = append(body.Extractions, &workv1.Extraction{Claim: "It is so.", Quote: quote, Start: int32(at), End: int32(at + len(quote))})
			}
		}
		result.Payload = &workv1.Result_Analyze{Analyze: body}
		w.apply(t, result)
	}
	sources := make(map[string][]string)
	for _, q := range w.publishOne(t).GetReport().GetQueries() {
		for _, e := range q.GetExtractions() {
			sources[e.GetUrl()] = append(sources[e.GetUrl()], e.GetQuote())
			if e.GetUrl() == "https://a.example/story" {
				require.Equal(t, "word7 word8", text[e.GetStart():e.GetEnd()])
				require.Equal(t, "The story", e.GetTitle())
			}
		}
	}
	require.Equal(t, map[string][]string{
		"https://a.example/story":      {"word7 word8", "word7 word8"},
		"https://b.example/syndicated": {"By B."},
	}, sources)
}

func TestDomainsAreCapped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	w.setDomainPages(3)
	id, searches := w.planned(t, w.oneLevel(t), 2)
	w.apply(t, found(searches[0], "https://www.example.org/1", "https://example.org/2", "http://127.0.0.1/1", "https://other.example/"))
	w.apply(t, found(searches[1], "https://example.org/2", "https://en.example.org/3", "https://example.org/4", "http://127.0.0.1/2", "http://127.0.0.1/3"))
	require.Len(t, w.publish(t), 7)
	failed := make(map[string]string)
	for _, site := range w.record(t, id).Sites {
		if site.Status == workflow.SiteFailed {
			require.Equal(t, string(fault.OverBudget), site.Reason)
			failed[site.URL] = site.Message
		}
	}
	require.Equal(t, map[string]string{"https://example.org/4": "The research reads at most 3 pages of example.org."}, failed)
	require.Empty(t, w.record(t, id).Reason, "nobody set a budget for it")
}

func TestOldBytesAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 1, 3)
	w.finish(t, id)
	const kept = "SELECT count(*) FROM document WHERE research_id = $1 AND raw IS NOT NULL"
	all := w.count(t, kept, id)
	require.Greater(t, all, 2)
	dropped, err := w.store.DropRaw(t.Context(), time.Hour, 100)
	require.NoError(t, err)
	require.Zero(t, dropped)
	dropped, err = w.store.DropRaw(t.Context(), 0, 2)
	require.NoError(t, err)
	require.Equal(t, 2, dropped, "a sweep drops no more than its share")
	_, err = w.store.DropRaw(t.Context(), 0, 100)
	require.NoError(t, err)
	require.Zero(t, w.count(t, kept, id))
	for _, site := range w.record(t, id).Sites {
		require.True(t, site.Content != nil || site.Status == workflow.SiteFailed, "texts stay")
	}
}
