package stack

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/process"
)

const documents = "../../../../"

// spoken are defaults that the document puts into words.
var spoken = map[string]bool{"FATHOM_SCRAPER_USER_AGENT": true}

// elsewhere are variables that no exported configuration has: those of the
// scraper's proxy, of the log, of pgcluster, and of the command line.
var elsewhere = map[string]bool{
	"FATHOM_PROXY_ADDR": true, "FATHOM_PROXY_MAX_BYTES": true, "FATHOM_LOG_LEVEL": true, "FATHOM_LOG_FORMAT": true,
	"FATHOM_POSTGRES_BIN": true, "FATHOM_SERVER": true,
}

// The services' defaults come last: fathom's own, for the same variable, are in words.
func variables() map[string]string {
	c := &configs{}
	found := make(map[string]string)
	for _, cfg := range []any{
		Settings{}, process.Settings{}, c.llm, c.gateway, c.state, c.planner, c.searcher, c.scraper, c.analyzer, c.reporter,
	} {
		gather(reflect.TypeOf(cfg), found)
	}
	return found
}

func gather(t reflect.Type, found map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		if name := field.Tag.Get("env"); name != "" {
			found[name] = field.Tag.Get("envDefault")
		} else if field.Type.Kind() == reflect.Struct {
			gather(field.Type, found)
		}
	}
}

func TestConfigurationIsDocumented(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(documents + "docs/configuration.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `(FATHOM_[A-Z_]+)` \\| (?:`([^`]*)`)?")
	documented := make(map[string]string)
	for _, m := range row.FindAllStringSubmatch(string(body), -1) {
		require.NotContains(t, documented, m[1], "twice")
		documented[m[1]] = m[2]
	}
	known := variables()
	var mistakes []string
	for name, value := range known {
		stated, ok := documented[name]
		switch {
		case !ok:
			mistakes = append(mistakes, fmt.Sprintf("it lacks %s, whose default is %q", name, value))
		case stated != value && !spoken[name]:
			mistakes = append(mistakes, fmt.Sprintf("it says that %s defaults to %q, and it is %q", name, stated, value))
		}
	}
	for name := range documented {
		_, ok := known[name]
		if !ok && !elsewhere[name] {
			mistakes = append(mistakes, fmt.Sprintf("it has %s, which no configuration has", name))
		}
	}
	require.Empty(t, mistakes, "docs/configuration.md")
}

func TestDocumentsNameRealVariables(t *testing.T) {
	t.Parallel()
	known := variables()
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md"} {
		body, err := os.ReadFile(documents + file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`FATHOM_[A-Z_]*[A-Z]`).FindAllString(string(body), -1) {
			_, ok := known[name]
			require.True(t, ok || elsewhere[name] || strings.HasPrefix(name, "FATHOM_LLM"), "%s names %s", file, name)
		}
	}
}
