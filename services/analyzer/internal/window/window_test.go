package window_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/analyzer/internal/window"
)

func TestAShortPageIsOneWindow(t *testing.T) {
	t.Parallel()
	text := "# A\n\nOne.\n\n# B\n\nTwo."
	windows := window.Split(text, nil, 100)
	require.Equal(t, []window.Window{{Start: 0, End: len(text)}}, windows)
}

func TestCutsAtSections(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("alpha beta. ", 30), strings.Repeat("gamma delta. ", 30)
	text := first + second
	sections := []*workv1.Section{
		{HeadingPath: []string{"A"}, Start: 0, End: int32(len(first))},
		{HeadingPath: []string{"A", "B"}, Start: int32(len(first)), End: int32(len(text))},
	}
	windows := window.Split(text, sections, 120)
	require.Len(t, windows, 2)
	require.Equal(t, len(first), windows[1].Start)
	require.Equal(t, []string{"A", "B"}, windows[1].HeadingPath)
}

func TestWindowsCoverThePageWithinTheirBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.StringN(0, 80, 200), 1, 20).Draw(t, "text"), "\n\n"), "")
		if text == "" {
			return
		}
		var sections []*workv1.Section
		for _, cut := range rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 5).Draw(t, "cuts") {
			if utf8.RuneStart(append([]byte(text), 0)[cut]) {
				sections = append(sections, &workv1.Section{Start: int32(cut), End: int32(min(len(text), cut+20))})
			}
		}
		covered := 0
		for _, w := range window.Split(text, sections, 50) {
			if w.Start != covered || w.End <= w.Start {
				t.Fatalf("window %v after %d", w, covered)
			}
			covered = w.End
			if tokens := llm.EstimateTokens(text[w.Start:w.End]); tokens > 60 {
				t.Fatalf("window of %d tokens", tokens)
			}
		}
		if covered != len(text) {
			t.Fatalf("%d of %d bytes are covered", covered, len(text))
		}
	})
}

func TestNearestKeepsThePartsThatSpeakOfTheObjective(t *testing.T) {
	t.Parallel()
	parts := []string{"Cookies and adverts here. ", "The bridge toll was six pence. ", "Weather tomorrow. ", "Toll rises for the bridge were planned. "}
	text := strings.Join(parts, "")
	var windows []window.Window
	at := 0
	for _, part := range parts {
		windows = append(windows, window.Window{Start: at, End: at + len(part)})
		at += len(part)
	}
	got := window.Nearest(text, windows, "bridge tolls", 2)
	require.Equal(t, []window.Window{windows[1], windows[3]}, got)
}
