package chrome

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const childVariable = "FATHOM_TEST_CHROME_CHILD"

// A scraper that is killed leaves no browser behind.
func TestDeathOfTheScraperEndsChrome(t *testing.T) {
	t.Parallel()
	site := serve(t, enough+strings.Repeat(" And more.", 200), nil)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	child.Env = append(os.Environ(), childVariable+"="+site)
	output, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(output)
	leader := 0
	for leader == 0 && lines.Scan() {
		text, found := strings.CutPrefix(lines.Text(), "browser ")
		if found {
			leader, err = strconv.Atoi(text)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, leader)
	require.NotEmpty(t, group(leader))
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	require.Eventually(t, func() bool { return len(group(leader)) == 0 }, 10*time.Second, 20*time.Millisecond)
}

// TestChild is the scraper that TestDeathOfTheScraperEndsChrome kills; by itself it
// has nothing to do.
func TestChild(t *testing.T) {
	t.Parallel()
	site := os.Getenv(childVariable)
	if site == "" {
		return
	}
	c := newChrome(t, nil, site)
	_, err := c.Get(t.Context(), site+"/")
	require.NoError(t, err)
	_, _ = os.Stdout.WriteString("browser " + strconv.Itoa(c.current.pid) + "\n")
	<-t.Context().Done()
}
