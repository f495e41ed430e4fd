package cli

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary act as fathom itself, so that tests can start
// it as a process of its own, and kill it.
const childVariable = "FATHOM_TEST_AS_FATHOM"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(Main(os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
	}
	goleak.VerifyTestMain(m)
}
