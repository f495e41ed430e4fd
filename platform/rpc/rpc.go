// Package rpc makes the gRPC servers and clients that Fathom's services use among
// themselves.
package rpc

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// MaxMessage bounds a message in bytes: a record with all its texts is large.
const MaxMessage = 512 << 20

// NewServer makes a server that traces its calls.
func NewServer(opts ...grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append([]grpc.ServerOption{
		grpc.StatsHandler(otelgrpc.NewServerHandler()),
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxMessage),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}, opts...)...)
}

// Dial makes a client of the service at target. It connects when it is first used
// and reconnects for ever. Traffic is in clear: the services share a trusted network.
func Dial(target string, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(target, append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", target, err)
	}
	return conn, nil
}

// Serve answers on listener until ctx ends, then lets running calls finish for at
// most grace.
func Serve(ctx context.Context, server *grpc.Server, listener net.Listener, grace time.Duration) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		timer := time.AfterFunc(grace, server.Stop)
		defer timer.Stop()
		server.GracefulStop()
	}()
	err := server.Serve(listener)
	if ctx.Err() != nil {
		<-stopped
		return nil //nolint:nilerr // a server that was told to stop has not failed
	}
	return fmt.Errorf("serve gRPC on %s: %w", listener.Addr(), err)
}
