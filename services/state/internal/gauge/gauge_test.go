package gauge_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/telemetry"
	"github.com/fathom-research/fathom/services/state/internal/gauge"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/testkit/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	err := goleak.Find()
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// TestMetricsShowWhatIsToBeDone is the package's only test: it sets the process's
// meter provider.
func TestMetricsShowWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, store.Migrate)
	st, err := store.Open(t.Context(), url, 4, store.Hooks{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	create := func(age string, tasks ...store.Task) string {
		id := store.NewID()
		_, err := st.Create(t.Context(), store.NewResearch{ID: id, Tenant: "default", Prompt: "p", NumQuestions: 1, Deadline: time.Hour},
			func(tx *store.Tx) error { return tx.AddTasks(t.Context(), tasks...) })
		require.NoError(t, err)
		exec(t, url, "UPDATE task SET due_at = now() - $2::interval WHERE research_id = $1", id, age)
		return id
	}
	create("2 minutes", store.Task{Kind: bus.Questions}, store.Task{Kind: bus.Queries})
	create("1 minute", store.Task{Kind: bus.Questions})
	paused := create("1 hour", store.Task{Kind: bus.Questions})
	exec(t, url, "UPDATE research SET status = 'paused', paused_from = 'asking', paused_at = now() WHERE id = $1", paused)
	exec(t, url, "UPDATE task SET state = 'published', published_at = now() WHERE kind = 'queries'")

	process, err := telemetry.Start(t.Context(), "state", "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, process.Close(context.WithoutCancel(t.Context()))) })
	registration, err := gauge.Register(otel.Meter("test"), st)
	require.NoError(t, err)
	scrape := func() string {
		answer := httptest.NewRecorder()
		process.Metrics.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		return answer.Body.String()
	}
	text := scrape()
	require.Regexp(t, `(?m)^fathom_state_relay_lag_seconds\{.*\} 1[2-9]\d(\.\d+)?$`, text, "a paused research is not late")
	for status, n := range map[string]int{"asking": 2, "paused": 1, "running": 0} {
		require.Regexp(t, fmt.Sprintf(`(?m)^fathom_state_researches\{.*status="%s".*\} %d$`, status, n), text)
	}
	for labels, n := range map[string]int{
		`kind="questions".*state="due"`: 3, `kind="queries".*state="published"`: 1, `kind="report".*state="due"`: 0,
	} {
		require.Regexp(t, fmt.Sprintf(`(?m)^fathom_state_tasks\{.*%s.*\} %d$`, labels, n), text)
	}
	require.NoError(t, registration.Unregister())
	require.NotContains(t, scrape(), "fathom_state_relay_lag_seconds{")
}

func exec(t *testing.T, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}
