// Package apidoc runs the shell examples of a document, so that what it shows works.
package apidoc

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds a whole document: its examples do real researches.
const patience = 5 * time.Minute

// Run runs the document's sh blocks, one after the other in one bash that stops at
// the first failure, with FATHOM_URL set to url. It returns what they print.
func Run(t testing.TB, document, url string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	script := Script(string(text))
	require.NotEmpty(t, script, "%s has no sh blocks", document)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	bash.Dir = t.TempDir()
	bash.Env = append(os.Environ(), "FATHOM_URL="+url)
	bash.WaitDelay = time.Second
	var output bytes.Buffer
	bash.Stdout, bash.Stderr = &output, &output
	err = bash.Run()
	require.NoError(t, err, "%s printed:\n%s", document, &output)
	return output.String()
}

// Script joins the sh blocks of a Markdown text.
func Script(markdown string) string {
	var script strings.Builder
	inside := false
	for line := range strings.Lines(markdown) {
		switch {
		case strings.TrimSpace(line) == "```sh":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			script.WriteString(line)
		}
	}
	return script.String()
}
