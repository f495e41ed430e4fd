package bus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/natstest"
)

func TestJournalKeepsAnswersOverARestart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	f := over(t, server)
	journal := f.Journal("t1")
	_, found, err := journal.Get(f.ctx, "0/abc")
	require.NoError(t, err)
	require.False(t, found)

	require.NoError(t, journal.Put(f.ctx, "0/abc", []byte("an answer")))
	require.NoError(t, journal.Put(f.ctx, "1/any key: ü * > .", nil))
	require.NoError(t, journal.Put(f.ctx, "0/abc", []byte("a refused answer")))
	server.Restart()

	var answer []byte
	require.Eventually(t, func() bool {
		answer, found, err = f.another().Journal("t1").Get(f.ctx, "0/abc")
		return err == nil
	}, patience, often)
	require.True(t, found)
	require.Equal(t, "a refused answer", string(answer))
	answer, found, err = journal.Get(f.ctx, "1/any key: ü * > .")
	require.NoError(t, err)
	require.True(t, found)
	require.Empty(t, answer)
	_, found, err = f.Journal("t2").Get(f.ctx, "0/abc")
	require.NoError(t, err)
	require.False(t, found)
}
