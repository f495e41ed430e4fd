package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/fathom-research/fathom/cmd/fathom/internal/client"
	"github.com/fathom-research/fathom/cmd/fathom/internal/progress"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

const redraw = 200 * time.Millisecond

// follow shows a research until it has ended.
func (a *app) follow(ctx context.Context, c *connection, id string) error {
	view := a.view()
	defer view.Close()
	events := make(chan *researchv1.Event)
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() {
		watched <- c.Watch(ctx, id, 0, func(event *researchv1.Event) error {
			select {
			case events <- event:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case event := <-events:
			view.See(event)
		case <-ticker.C:
			view.Tick()
		case err := <-watched:
			cancel()
			return err
		}
	}
}

func (a *app) view() progress.View {
	file, ok := a.Err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || a.environment["TERM"] == "dumb" {
		return progress.NewPlain(a.Err)
	}
	return progress.NewLive(file, func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width == 0 || height == 0 {
			return 80, 24
		}
		return width, height
	})
}

// errUnfinished is a research that ended without a whole report.
var errUnfinished = errors.New("the research did not come to its end")

// deliver writes the report, and what could not be processed. It fails when the
// research has.
func (a *app) deliver(ctx context.Context, c *connection, id string, f researchFlags) error {
	research, err := c.Get(ctx, id, "summary")
	if err != nil {
		return err
	}
	err = a.printErrorOutput(ctx, c, id)
	if err != nil {
		return err
	}
	err = a.writeReport(ctx, c, id, f)
	if err != nil {
		return err
	}
	if research.GetStatus() != "completed" {
		return fmt.Errorf("%w: it is %s%s", errUnfinished, research.GetStatus(), because(research.GetReason()))
	}
	return nil
}

func because(reason string) string {
	if reason == "" || reason == "ok" {
		return ""
	}
	return " (" + strings.ReplaceAll(reason, "_", " ") + ")"
}

func (a *app) printErrorOutput(ctx context.Context, c *connection, id string) error {
	text, err := c.ErrorOutput(ctx, id)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "\n%s\n", text)
	return nil
}

// writeReport writes the report to the file of -o, or prints it. A research that
// failed may have none, which is told by its status.
func (a *app) writeReport(ctx context.Context, c *connection, id string, f researchFlags) error {
	form := "text/markdown"
	if a.json {
		form = "application/json"
	}
	text, err := c.Report(ctx, id, form)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		err := os.WriteFile(f.out, []byte(text), 0o644)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		fmt.Fprintf(a.Err, "Report: %s\n", f.out)
	}
	if f.out == "" || f.print {
		_, err = fmt.Fprintln(a.Out, text)
		if err != nil {
			return fmt.Errorf("print the report: %w", err)
		}
	}
	return nil
}

func isNotFound(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
