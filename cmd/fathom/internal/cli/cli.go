// Package cli is the command line.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and writes. What a script wants goes to Out;
// progress, questions and warnings go to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// app is what the commands share.
type app struct {
	Streams
	environment map[string]string

	server string
	state  string
	data   string
	json   bool
}

// The exit statuses besides 0.
const (
	exitFailed      = 1
	exitInterrupted = 130
)

// Main runs the command that args name and returns the exit status.
func Main(args []string, streams Streams, environ []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, args, streams, environ)
}

func run(ctx context.Context, args []string, streams Streams, environ []string) int {
	a := &app{Streams: streams, environment: make(map[string]string)}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		a.environment[name] = value
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	fmt.Fprintf(streams.Err, "fathom: %v\n", err)
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "fathom",
		Short: "Deep research: from a prompt to a cited report",
		Long: `Fathom asks follow-up questions, plans search queries, reads the pages, extracts
what answers each query, goes deeper query by query, and writes a report in which
every sentence is cited to the page it was read on.

Everything runs in this process unless --server names a gateway, or a "fathom up"
already runs on the same data folder: then that one is used.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.server, "server", a.environment["FATHOM_SERVER"], "address of a gateway, such as http://127.0.0.1:8080 (FATHOM_SERVER)")
	flags.StringVar(&a.data, "data", "", "data folder (FATHOM_DATA_DIR; default ~/.local/share/fathom, for root /var/lib/fathom)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.AddCommand(
		a.upCommand(), a.researchCommand(), a.lsCommand(), a.showCommand(), a.snapshotCommand(), a.watchCommand(), a.reportCommand(),
		a.controlCommand("cancel", "Stop a research for good; what was found is kept"),
		a.controlCommand("pause", "Let a research rest; its deadline's clock stops"),
		a.controlCommand("resume", "Let a paused research go on"),
		a.rmCommand(), a.deadCommand(), a.corpusCommand(), a.readCommand(), a.extractCommand(), a.versionCommand(),
	)
	return root
}
