package engine

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/erroroutput"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// report stores the report and ends the research.
func (e *Engine) report(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.ReportResult) (*fault.Error, error) {
	if result.GetMarkdown() == "" {
		return fault.Transient(fault.InvalidAnswer, "the report is empty"), nil
	}
	err := done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	err = saveReport(ctx, tx, result, false)
	if err != nil {
		return nil, err
	}
	progress, err := tx.Progress(ctx)
	if err != nil {
		return nil, err
	}
	next := workflow.Decide(workflow.Situation{
		Happening: workflow.Reported, Queries: progress.Queries,
		QueriesCompleted: progress.QueriesCompleted, Extractions: progress.Extractions,
	})
	return nil, e.follow(ctx, tx, next, nil, progress.Reason, "No query could be processed.")
}

// reportFailed keeps what could be written and ends the research.
func (e *Engine) reportFailed(ctx context.Context, tx *store.Tx, partial *workv1.ReportResult, code, message string) error {
	if partial.GetMarkdown() != "" {
		err := saveReport(ctx, tx, partial, true)
		if err != nil {
			return err
		}
	}
	next := workflow.Decide(workflow.Situation{Happening: workflow.ReportFailed})
	return e.follow(ctx, tx, next, nil, code, message)
}

func saveReport(ctx context.Context, tx *store.Tx, result *workv1.ReportResult, partial bool) error {
	rest := proto.CloneOf(result)
	rest.Markdown = ""
	evidence, err := protojson.Marshal(rest)
	if err != nil {
		return fmt.Errorf("encode the evidence of a report: %w", err)
	}
	err = tx.SaveReport(ctx, store.Report{Markdown: result.GetMarkdown(), Evidence: evidence, Partial: partial})
	if err != nil {
		return err
	}
	tx.Tell(store.Event{Type: "report.written"})
	return nil
}

// writeErrorOutput stores error-output.md as things stand.
func writeErrorOutput(ctx context.Context, tx *store.Tx) error {
	err := tx.Flush(ctx)
	if err != nil {
		return err
	}
	record, err := tx.Record(ctx)
	if err != nil {
		return err
	}
	return tx.SaveErrorOutput(ctx, erroroutput.Render(record, tx.Now))
}
