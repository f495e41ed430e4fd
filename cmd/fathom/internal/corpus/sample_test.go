package corpus

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample(t *testing.T) (fs.FS, *Corpus) {
	t.Helper()
	files, err := Sample()
	require.NoError(t, err)
	c, err := Load(t.Context(), files, quiet())
	require.NoError(t, err)
	return files, c
}

func TestSampleAnswersDifferentQueriesByDifferentPages(t *testing.T) {
	t.Parallel()
	_, c := sample(t)
	require.GreaterOrEqual(t, len(c.Documents()), 40)
	for query, want := range map[string]string{
		"how does Raft elect a leader":                      "consensus/raft.html",
		"quorum queues replace mirrored queues in RabbitMQ": "messaging/rabbitmq.html",
		"Kafka in-sync replicas acknowledgements":           "messaging/kafka.html",
		"fsync failure PostgreSQL page cache":               "storage/fsync.html",
		"vacuum dead row versions transaction wraparound":   "storage/postgres-mvcc.md",
		"robots.txt standard crawl rules":                   "crawling/robots.html",
		"price of lithium-ion batteries per kilowatt-hour":  "energy/lithium-ion.html",
		"pumped storage plants and their power":             "energy/pumped-hydro.html",
		"hedged requests percentile latency":                "reliability/tail-latency.html",
		"GitLab lost database backup failed":                "storage/backups.txt",
		"latency numbers every programmer should know":      "live/latency-numbers.html",
		"horizontal pod autoscaler queue length KEDA":       "kubernetes/autoscaling.html",
		"Byzantine generals traitors 3f+1":                  "consensus/byzantine.html",
	} {
		hits := c.index.Search(query)
		require.NotEmpty(t, hits, query)
		require.Equal(t, want, c.documents[hits[0].Document].Path, query)
		require.GreaterOrEqual(t, len(hits), 3, query)
	}
}

// A page that only a script fills must not be readable without one, or nothing
// would show that the browser was needed.
func TestSampleHasAPageThatOnlyAScriptFills(t *testing.T) {
	t.Parallel()
	files, c := sample(t)
	for _, document := range c.Documents() {
		if document.Path != "live/latency-numbers.html" {
			continue
		}
		require.NotContains(t, document.Text, "transatlantic cable")
		require.NotContains(t, document.Text, "0.5 nanoseconds")
		script, err := fs.ReadFile(files, "live/latency-numbers.js")
		require.NoError(t, err)
		require.Contains(t, string(script), "first-level cache")
		return
	}
	require.Fail(t, "the page is missing")
}

func TestSampleLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	files, c := sample(t)
	link := regexp.MustCompile(`(?:href="|src="|\]\()([^")#]+)`)
	for _, document := range c.Documents() {
		body, err := fs.ReadFile(files, document.Path)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(body), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			_, err := fs.Stat(files, path.Join(path.Dir(document.Path), m[1]))
			require.NoError(t, err, "%s links to %s", document.Path, m[1])
		}
	}
}
