package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/fathom-research/fathom/cmd/fathom/internal/corpus"
)

func (a *app) corpusCommand() *cobra.Command {
	command := &cobra.Command{Use: "corpus", Short: "Serve documents as if they were the web"}
	var addr string
	serve := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve a folder of HTML, Markdown, text and PDF, with SearXNG's search API in front",
		Long: `Serves a folder as a small website with SearXNG's search API, so that a Fathom whose
FATHOM_SEARXNG_URL is its address, and whose FATHOM_SCRAPER_ALLOW has it, researches
these documents.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.serveCorpus(command.Context(), args[0], addr)
		},
	}
	serve.Flags().StringVar(&addr, "addr", "127.0.0.1:8888", "address to serve on")
	command.AddCommand(serve)
	return command
}

func (a *app) serveCorpus(ctx context.Context, dir, addr string) error {
	root, err := corpus.Folder(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	documents, err := corpus.Load(ctx, root.FS(), slog.New(slog.NewTextHandler(a.Err, nil)))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("serve the corpus: %w; choose another address with --addr", err)
	}
	at := listener.Addr().String()
	fmt.Fprintf(a.Err, "%d documents of %s at http://%s\nFATHOM_SEARXNG_URL=http://%s FATHOM_SCRAPER_ALLOW=%s\n",
		len(documents.Documents()), dir, at, at, at)
	err = documents.Serve(ctx, listener)
	if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
