package rpc_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/fathom-research/fathom/platform/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slow answers a watch never and a check when it is told to.
type slow struct {
	healthpb.UnimplementedHealthServer
	begun   chan struct{}
	proceed chan struct{}
}

func (s *slow) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	close(s.begun)
	<-s.proceed
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

func (s *slow) Watch(_ *healthpb.HealthCheckRequest, stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	close(s.begun)
	<-stream.Context().Done()
	return stream.Context().Err()
}

func serve(t *testing.T, service healthpb.HealthServer, grace time.Duration) (healthpb.HealthClient, func(), <-chan error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := rpc.NewServer()
	healthpb.RegisterHealthServer(server, service)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	ended := make(chan error, 1)
	go func() { ended <- rpc.Serve(ctx, server, listener, grace) }()
	conn, err := rpc.Dial(listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return healthpb.NewHealthClient(conn), stop, ended
}

func TestCallAndStop(t *testing.T) {
	t.Parallel()
	client, stop, ended := serve(t, health.NewServer(), time.Second)
	answer, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, answer.GetStatus())
	stop()
	require.NoError(t, <-ended)
}

func TestStopLetsACallFinish(t *testing.T) {
	t.Parallel()
	service := &slow{begun: make(chan struct{}), proceed: make(chan struct{})}
	client, stop, ended := serve(t, service, time.Minute)
	called := make(chan error, 1)
	go func() {
		_, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
		called <- err
	}()
	<-service.begun
	stop()
	close(service.proceed)
	require.NoError(t, <-called)
	require.NoError(t, <-ended)
}

// A stream that nobody ends does not keep the process for longer than the grace.
func TestStopCutsAStreamAfterTheGrace(t *testing.T) {
	t.Parallel()
	service := &slow{begun: make(chan struct{})}
	client, stop, ended := serve(t, service, 50*time.Millisecond)
	stream, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	<-service.begun
	stop()
	_, err = stream.Recv()
	require.Error(t, err)
	require.NoError(t, <-ended)
}

func TestDialNeedsNoServer(t *testing.T) {
	t.Parallel()
	conn, err := rpc.Dial("127.0.0.1:1")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}
