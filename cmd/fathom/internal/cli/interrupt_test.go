package cli

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// signalling cancels when what is written contains a text: Ctrl-C at that moment.
type signalling struct {
	mu     sync.Mutex
	text   strings.Builder
	when   string
	cancel context.CancelFunc
}

func (s *signalling) Write(body []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(body)
	if strings.Contains(s.text.String(), s.when) {
		s.cancel()
	}
	return len(body), nil
}

func (s *signalling) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestInterruptedResearchGoesOn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2eTimeout)
	defer cancel()
	dir := dataDir(t)
	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	errs := &signalling{when: "completed ", cancel: interrupt}
	var out strings.Builder
	status := run(interrupted, []string{"research", "What do batteries and pumped hydro cost?", "--depth", "2", "--breadth", "2", "--data", dir},
		Streams{In: strings.NewReader(""), Out: &out, Err: errs},
		append(environment(), "FATHOM_SCRAPER_PER_SITE=1", "FATHOM_SCRAPER_GAP=50ms"))
	require.Equal(t, exitInterrupted, status, errs.String())
	require.Empty(t, out.String())
	m := regexp.MustCompile(`go on with: fathom watch (\S+) --data (\S+)`).FindStringSubmatch(errs.String())
	require.NotNil(t, m, errs.String())
	require.Equal(t, dir, m[2])

	watched := fathom(ctx, "", nil, "watch", m[1], "--data", dir)
	require.Zero(t, watched.status, watched.err)
	require.Contains(t, watched.out, "## Sources")
}
