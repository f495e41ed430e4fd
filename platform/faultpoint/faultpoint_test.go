package faultpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/faultpoint"
)

// TestMain is also the process that dies: the test starts itself with the point set.
func TestMain(m *testing.M) {
	if os.Getenv("PASS") != "" {
		faultpoint.Pass(os.Getenv("PASS"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestPassKillsOnlyWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		point string
		dies  bool
	}{{"commit.after", true}, {"commit.before", false}, {"never", false}} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PASS="+test.point, faultpoint.Variable+"=commit.after=1,never=0,broken")
		err := cmd.Run()
		if !test.dies {
			require.NoError(t, err, test.point)
			continue
		}
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit))
		status, ok := exit.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		require.Equal(t, syscall.SIGKILL, status.Signal())
	}
}
