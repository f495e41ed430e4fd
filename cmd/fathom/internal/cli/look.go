package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// with connects, does what is asked, and closes.
func (a *app) with(ctx context.Context, work bool, do func(ctx context.Context, c *connection) error) error {
	running, c, err := a.connect(ctx, work)
	if err != nil {
		return err
	}
	return errors.Join(cause(running, do(running, c)), c.Close())
}

func (a *app) lsCommand() *cobra.Command {
	var status string
	var limit int32
	command := &cobra.Command{
		Use:   "ls",
		Short: "List researches, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				listed, err := c.List(ctx, &researchv1.ListResearchesRequest{PageSize: limit, Status: status})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(listed)
				}
				return a.printList(listed)
			})
		},
	}
	command.Flags().StringVar(&status, "status", "", "only researches of this status")
	command.Flags().Int32Var(&limit, "limit", 50, "most researches listed")
	return command
}

func (a *app) printList(listed *researchv1.ListResearchesResponse) error {
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATUS\tTREE\tQUERIES\tCREATED\tPROMPT")
	for _, r := range listed.GetResearches() {
		fmt.Fprintf(table, "%s\t%s\t%d×%d\t%d/%d\t%s\t%s\n", r.GetResearchId(), r.GetStatus(), r.GetDepth(), r.GetBreadth(),
			ended(r.GetCounts()), r.GetCounts().GetQueriesPlanned(), r.GetCreatedAt().AsTime().Local().Format(time.DateTime), short(r.GetInitialPrompt()))
	}
	return table.Flush()
}

func ended(counts *researchv1.Counts) int32 {
	return counts.GetQueriesCompleted() + counts.GetQueriesFailed()
}

func short(text string) string {
	text = clean(strings.Join(strings.Fields(text), " "))
	runes := []rune(text)
	if len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return text
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a research: its queries, pages and findings; the whole record with --json",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				view := "summary"
				if a.json {
					view = ""
				}
				research, err := c.Get(ctx, args[0], view)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(research)
				}
				a.printResearch(research)
				return nil
			})
		},
	}
}

func (a *app) snapshotCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot ID URL",
		Short: "Print a page's bytes as they were when the research read it",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				if isTerminal(a.Out) {
					return errors.New("the page's bytes are a stranger's, and a terminal would obey them: send them to a file with > FILE")
				}
				body, err := c.Snapshot(ctx, args[0], args[1])
				if err != nil {
					return err
				}
				_, err = a.Out.Write(body)
				return err
			})
		},
	}
}

func (a *app) printResearch(r *researchv1.Research) {
	fmt.Fprintf(a.Out, "%s  %s%s\n%s\n\n", r.GetResearchId(), r.GetStatus(), because(r.GetReason()), clean(r.GetInitialPrompt()))
	for i, question := range r.GetFollowupQuestions() {
		answer := ""
		if i < len(r.GetFollowupAnswers()) {
			answer = r.GetFollowupAnswers()[i]
		}
		fmt.Fprintf(a.Out, "  ? %s\n    %s\n", clean(question), clean(orNoPreference(answer)))
	}
	counts := r.GetCounts()
	fmt.Fprintf(a.Out, "\n%d of %d queries done, %d failed; %d pages analyzed, %d failed; %d findings\n\n",
		ended(counts), counts.GetQueriesPlanned(), counts.GetQueriesFailed(), counts.GetWebsitesAnalyzed(), counts.GetWebsitesFailed(), counts.GetExtractions())
	below := make(map[string][]*researchv1.SerpQuery)
	for _, query := range r.GetSerpQueries() {
		parent := query.GetParentQueryId().GetValue()
		below[parent] = append(below[parent], query)
	}
	pages := make(map[string][]*researchv1.Website)
	for _, page := range r.GetSuccessfulScrapedWebsites() {
		pages[page.GetQueryId()] = append(pages[page.GetQueryId()], page)
	}
	a.printQueries(below, pages, "", 0)
}

func (a *app) printQueries(below map[string][]*researchv1.SerpQuery, pages map[string][]*researchv1.Website, parent string, level int) {
	indent := strings.Repeat("  ", level)
	for _, query := range below[parent] {
		fmt.Fprintf(a.Out, "%s%s [%s%s]\n", indent, clean(query.GetText()), query.GetStatus(), because(query.GetReason()))
		for _, page := range pages[query.GetQueryId()] {
			note := ""
			if page.GetStatus() == "failed" {
				note = ": " + clean(page.GetErrorMessage())
			}
			fmt.Fprintf(a.Out, "%s    %-8s %s%s\n", indent, page.GetStatus(), page.GetUrl(), note)
		}
		a.printQueries(below, pages, query.GetQueryId(), level+1)
	}
}

func (a *app) reportCommand() *cobra.Command {
	var f researchFlags
	var html bool
	command := &cobra.Command{
		Use:   "report ID",
		Short: "Print the report of a research",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				if html {
					text, err := c.Report(ctx, args[0], "text/html")
					if err == nil {
						fmt.Fprintln(a.Out, text)
					}
					return err
				}
				_, err := c.Report(ctx, args[0], "text/markdown")
				if err != nil {
					return err
				}
				return a.writeReport(ctx, c, args[0], f)
			})
		},
	}
	command.Flags().StringVarP(&f.out, "output", "o", "", "file for the report")
	command.Flags().BoolVar(&html, "html", false, "print HTML")
	return command
}

func (a *app) printJSON(message proto.Message) error {
	body, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true, Multiline: true}.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	fmt.Fprintln(a.Out, string(body))
	return nil
}
