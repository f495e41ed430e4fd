package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fathom-research/fathom/cmd/fathom/internal/stack"
	"github.com/fathom-research/fathom/platform/process"
	"github.com/fathom-research/fathom/platform/telemetry"
)

func (a *app) upCommand() *cobra.Command {
	var addr, corpusDir string
	command := &cobra.Command{
		Use:   "up",
		Short: "Run all of Fathom in this process",
		Long: `Runs every service in one process until it is stopped. Without FATHOM_DATABASE_URL a
private Postgres cluster runs in the data folder, without FATHOM_NATS_URL NATS is
embedded, without FATHOM_SEARXNG_URL a corpus of documents is searched instead of
the web. Researches that were open go on.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := a.settings()
			if err != nil {
				return err
			}
			if addr != "" {
				settings.HTTPAddr = addr
			}
			if corpusDir != "" {
				settings.CorpusDir, settings.SearXNGURL = corpusDir, ""
			}
			return a.up(command.Context(), settings)
		},
	}
	command.Flags().StringVar(&addr, "http", "", "address of REST and the web page (FATHOM_HTTP_ADDR; default 127.0.0.1:8080)")
	command.Flags().StringVar(&corpusDir, "corpus", "", "folder of documents to search instead of the web (FATHOM_CORPUS_DIR)")
	return command
}

func (a *app) up(ctx context.Context, settings stack.Settings) error {
	observed, err := telemetry.Start(ctx, "fathom", process.Version)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = observed.Close(closing)
	}()
	started, err := stack.Start(ctx, stack.Config{
		Settings: settings, Environment: a.environment, Logger: observed.Logger, Metrics: observed.Metrics,
	})
	if err != nil {
		return err
	}
	a.describe(started)
	fmt.Fprintf(a.Err, "Fathom is up at %s (data in %s). Stop it with Ctrl-C.\n", started.URL(), settings.DataDir)
	return started.Run(ctx)
}

// describe says what stands in for what a person may have expected.
func (a *app) describe(s *stack.Stack) {
	if s.SearchesCorpus() {
		fmt.Fprintf(a.Err, "Searching %s, not the web: FATHOM_SEARXNG_URL is not set.\n", s.Searches())
	} else {
		fmt.Fprintf(a.Err, "Searching by SearXNG at %s.\n", s.Searches())
	}
	if s.Builtin() {
		fmt.Fprintln(a.Err, "Working with the built-in engine, without a language model: no FATHOM_LLM_* is set.")
	}
}
