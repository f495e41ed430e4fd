package deploy_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// The server reads its own configuration. Not parallel: the name is in the environment.
func TestNATSAcceptsItsConfiguration(t *testing.T) {
	t.Setenv("POD_NAME", "nats-0")
	options, err := server.ProcessConfigFile("k8s/components/nats/nats.conf")
	require.NoError(t, err)
	nats := render(t, "trial").workloads["nats"].container()
	require.EqualValues(t, portNamed(nats, "nats"), options.Port)
	require.EqualValues(t, portNamed(nats, "monitor"), options.HTTPPort)
	require.True(t, options.JetStream)
	require.Equal(t, "/data", options.StoreDir)
	require.Equal(t, "nats-0", options.ServerName)
}
