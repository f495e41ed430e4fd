package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/analyzer/internal/prompt"
	"github.com/fathom-research/fathom/services/analyzer/internal/window"
)

var update = flag.Bool("update", false, "write the golden files")

func TestExtractPrompt(t *testing.T) {
	t.Parallel()
	page := &workv1.AnalyzeTask{
		Prompt: "How do cities cut traffic deaths?", Query: "Oslo traffic deaths", Objective: "How many died in Oslo.",
		Url: "https://example.org/oslo", Title: "Streets\nof Oslo", Text: "Before.\n\nOne person died in 2019.",
		Published: timestamppb.New(time.Date(2020, 3, 4, 0, 0, 0, 0, time.UTC)),
	}
	request := prompt.Extract(page, window.Window{Start: 9, End: 33, HeadingPath: []string{"Oslo", "Deaths"}}, 2, 2)
	got := "# system\n" + request.System + "\n\n# user\n" + request.User + "\n\n# schema " + request.Schema.Name + "\n" + string(request.Schema.Schema) + "\n"
	path := filepath.Join("testdata", "extract.golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
