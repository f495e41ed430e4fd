package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fathom-research/fathom/platform/config"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper"
)

func (a *app) readCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "read URL",
		Short: "Read one page as the scraper does: Markdown, or with --json its metadata too",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.read(command.Context(), args[0])
		},
	}
}

func (a *app) read(ctx context.Context, address string) error {
	var cfg scraper.Config
	err := config.LoadFrom(&cfg, a.environment)
	if err != nil {
		return err
	}
	reader, err := scraper.NewReader(cfg)
	if err != nil {
		return err
	}
	result, err := reader.Read(ctx, address)
	if err == nil {
		err = a.printPage(result.GetPage())
	}
	return errors.Join(err, reader.Close())
}

func (a *app) printPage(page *workv1.Page) error {
	if a.json {
		return a.printJSON(page)
	}
	fmt.Fprintln(a.Out, page.GetText())
	return nil
}

func (a *app) extractCommand() *cobra.Command {
	var address, contentType string
	var lines bool
	command := &cobra.Command{
		Use:   "extract --url URL",
		Short: "Make Markdown of the HTML on standard input",
		Long: `Makes Markdown of the document on standard input, which was fetched from --url.

With --jsonl each line of standard input is one document, {"id", "url", "html_b64"},
and each line of standard output is its text, {"id", "text", "ns", "err"}: ns is how
long the extraction took.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if lines {
				return a.extractLines()
			}
			if address == "" {
				return errors.New("--url must say where the document is from")
			}
			body, err := io.ReadAll(a.In)
			if err != nil {
				return fmt.Errorf("read standard input: %w", err)
			}
			page, err := scraper.Extract(body, address, contentType)
			if err != nil {
				return err
			}
			return a.printPage(page)
		},
	}
	command.Flags().StringVar(&address, "url", "", "where the document was fetched from")
	command.Flags().StringVar(&contentType, "type", "", "its media type (default: found out)")
	command.Flags().BoolVar(&lines, "jsonl", false, "one document a line")
	return command
}

type extractIn struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	HTML string `json:"html_b64"`
}

type extractOut struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	NS   int64  `json:"ns"`
	Err  string `json:"err"`
}

func (a *app) extractLines() error {
	in := bufio.NewReader(a.In)
	buffered := bufio.NewWriter(a.Out)
	out := json.NewEncoder(buffered)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			encoding := out.Encode(extractLine(line))
			if encoding == nil && in.Buffered() == 0 {
				// Whoever feeds line by line waits for the answer.
				encoding = buffered.Flush()
			}
			if encoding != nil {
				return fmt.Errorf("write a text: %w", encoding)
			}
		}
		if errors.Is(err, io.EOF) {
			return buffered.Flush()
		}
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
	}
}

func extractLine(line []byte) extractOut {
	var in extractIn
	err := json.Unmarshal(line, &in)
	if err != nil {
		return extractOut{Err: fmt.Sprintf("not a document: %v", err)}
	}
	body, err := base64.StdEncoding.DecodeString(in.HTML)
	if err != nil {
		return extractOut{ID: in.ID, Err: fmt.Sprintf("html_b64 is not base64: %v", err)}
	}
	began := time.Now()
	page, err := scraper.Extract(body, in.URL, "text/html")
	out := extractOut{ID: in.ID, NS: time.Since(began).Nanoseconds()}
	if err != nil {
		out.Err = err.Error()
		return out
	}
	out.Text = page.GetText()
	return out
}
