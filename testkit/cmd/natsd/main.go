// Command natsd is a NATS JetStream server in a process of its own, which the chaos
// harness can kill.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/fathom-research/fathom/platform/run"
)

func main() {
	port := flag.Int("port", 4222, "port on 127.0.0.1")
	store := flag.String("store", "", "folder of the streams")
	flag.Parse()
	os.Exit(run.Main(func(ctx context.Context) error { return serve(ctx, *port, *store) }))
}

func serve(ctx context.Context, port int, store string) error {
	daemon, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: store, NoSigs: true,
	})
	if err != nil {
		return fmt.Errorf("configure NATS: %w", err)
	}
	go daemon.Start()
	if !daemon.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("start NATS on port %d: not ready after 10 s", port)
	}
	<-ctx.Done()
	daemon.Shutdown()
	daemon.WaitForShutdown()
	return nil
}
