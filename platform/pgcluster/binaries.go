package pgcluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var errNoBinaries = errors.New("find Postgres's server programs (initdb, postgres): install the package postgresql, or set FATHOM_POSTGRES_BIN to the folder that holds them")

// places are where distributions put the server programs, which are often not in PATH.
var places = []string{
	"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                   // Fedora, RHEL
	"/opt/homebrew/opt/postgresql@*/bin", // macOS, Apple silicon
	"/usr/local/opt/postgresql@*/bin",    // macOS, Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBinaries returns the folder of initdb and postgres: what the person named,
// else what PATH has, else the newest version installed.
func findBinaries() (string, error) {
	named := os.Getenv("FATHOM_POSTGRES_BIN")
	if named != "" {
		if complete(named) {
			return named, nil
		}
		return "", errNoBinaries
	}
	inPath, err := exec.LookPath("initdb")
	if err == nil && complete(filepath.Dir(inPath)) {
		return filepath.Dir(inPath), nil
	}
	var found []string
	for _, pattern := range places {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			found = append(found, slices.DeleteFunc(matches, func(dir string) bool { return !complete(dir) })...)
		}
	}
	if len(found) == 0 {
		return "", errNoBinaries
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres", "pg_ctl"} {
		_, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return false
		}
	}
	return true
}

// version is the first number in the path, 0 when there is none.
func version(dir string) int {
	digits := strings.FieldsFunc(dir, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	number, err := strconv.Atoi(digits[0])
	if err != nil {
		return 0
	}
	return number
}
