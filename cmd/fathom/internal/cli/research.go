package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

type researchFlags struct {
	questions, depth, breadth int32
	words, sources            int32
	concurrency               int32
	answers, corpus, out      string
	language, timeRange       string
	yes, print                bool
	budget                    budgetFlags
}

// budgetFlags bound what a research may consume; 0 is no bound.
type budgetFlags struct {
	queries, pages int32
	tokens         int64
	usd            float64
	time           time.Duration
}

func (b budgetFlags) proto() *researchv1.Budget {
	if b == (budgetFlags{}) {
		return nil
	}
	return &researchv1.Budget{
		Queries: b.queries, Pages: b.pages, ModelTokens: b.tokens, CostUsd: b.usd, Seconds: int32(b.time.Seconds()),
	}
}

func (a *app) researchCommand() *cobra.Command {
	var f researchFlags
	command := &cobra.Command{
		Use:   `research "PROMPT"`,
		Short: "Do a research and print its report",
		Long: `Does a research from the follow-up questions to the report, with live progress.
The report goes to standard output, or to the file of -o.

Without a terminal, or with --yes, nothing is asked: the questions are printed and
answered with "no preference". Ctrl-C stops the watching, and the work when it is
done by this process; what was done is kept, and "fathom watch" goes on with it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.research(command.Context(), args[0], f)
		},
	}
	flags := command.Flags()
	flags.Int32Var(&f.questions, "questions", 3, "number of follow-up questions")
	flags.StringVar(&f.answers, "answers", "", "file with the answers, one a line, or a JSON list")
	flags.Int32Var(&f.depth, "depth", 2, "levels of the tree of queries")
	flags.Int32Var(&f.breadth, "breadth", 3, "queries at its first level; each further level halves it")
	flags.StringVar(&f.corpus, "corpus", "", "folder of documents to search instead of the web")
	flags.BoolVarP(&f.yes, "yes", "y", false, "ask nothing")
	flags.StringVarP(&f.out, "output", "o", "", "file for the report")
	flags.BoolVar(&f.print, "print", false, "print the report although -o is given")
	flags.Int32Var(&f.words, "words", 0, "length of the report (default: the server's)")
	flags.Int32Var(&f.sources, "sources", 0, "most sources of the report (default: the server's)")
	flags.Int32Var(&f.concurrency, "analysis-concurrency", 0, "pages of one query analyzed at once (default 1)")
	flags.StringVar(&f.language, "language", "", "language to search in, such as en")
	flags.StringVar(&f.timeRange, "time-range", "", "day, week, month or year")
	flags.Int32Var(&f.budget.queries, "max-queries", 0, "most queries; the report is written from what there is then")
	flags.Int32Var(&f.budget.pages, "max-pages", 0, "most pages")
	flags.Int64Var(&f.budget.tokens, "max-tokens", 0, "most tokens of models")
	flags.Float64Var(&f.budget.usd, "max-usd", 0, "most cost in USD, by the server's prices")
	flags.DurationVar(&f.budget.time, "max-time", 0, "longest time, such as 30m")
	return command
}

func (a *app) research(ctx context.Context, prompt string, f researchFlags) error {
	if f.corpus != "" {
		if a.server != "" {
			return errors.New("--corpus is for a research in this process, not for --server")
		}
		a.environment["FATHOM_CORPUS_DIR"], a.environment["FATHOM_SEARXNG_URL"] = f.corpus, ""
	}
	given, err := readAnswers(f.answers)
	if err != nil {
		return err
	}
	work, c, err := a.connect(ctx, true)
	if err != nil {
		return err
	}
	if c.Own != nil {
		a.describe(c.Own)
	} else {
		fmt.Fprintf(a.Err, "Using the Fathom at %s.\n", c.URL)
		if f.corpus != "" {
			return errors.Join(fmt.Errorf("--corpus: the Fathom at %s searches what it was started with; stop it, or choose another data folder with --data", c.URL), c.Close())
		}
	}
	id, err := a.begin(work, c, prompt, given, f)
	if err == nil {
		err = a.follow(work, c, id)
	}
	if err == nil {
		err = a.deliver(work, c, id, f)
	}
	return a.end(ctx, c, id, cause(work, err))
}

// end closes the connection and, after Ctrl-C, says how to go on.
func (a *app) end(ctx context.Context, c *connection, id string, err error) error {
	interrupted := ctx.Err() != nil
	if interrupted && c.Own != nil {
		fmt.Fprintln(a.Err, "Stopping; Ctrl-C again ends at once, and loses nothing either.")
	}
	err = errors.Join(err, c.Close())
	if interrupted && id != "" {
		a.sayHowToGoOn(c, id)
	}
	return err
}

// begin asks the questions, tells what the research will take, and starts it. The id
// comes with an error, too, when the research may have been started. What was not is
// removed: nothing could go on with it.
func (a *app) begin(ctx context.Context, c *connection, prompt string, given []string, f researchFlags) (string, error) {
	asked, err := c.CreateQuestions(ctx, &researchv1.CreateQuestionsRequest{InitialPrompt: prompt, NumQuestions: f.questions})
	if err != nil {
		return "", err
	}
	id := asked.GetResearchId()
	fmt.Fprintf(a.Err, "Research %s\n", id)
	request, err := a.agree(ctx, c, asked, given, f)
	if err != nil {
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
		defer cancel()
		return "", errors.Join(err, c.Delete(removing, id))
	}
	_, err = c.Start(ctx, request)
	return id, err
}

// removal bounds the removing of a research that was not started.
const removal = 5 * time.Second

// agree comes to the request that starts a research: answers, and a yes to what it takes.
func (a *app) agree(ctx context.Context, c *connection, asked *researchv1.CreateQuestionsResponse, given []string, f researchFlags) (*researchv1.StartResearchRequest, error) {
	lines := lineReader(a.In)
	answers, err := a.answer(ctx, lines, asked.GetFollowupQuestions(), given, f)
	if err != nil {
		return nil, err
	}
	request := &researchv1.StartResearchRequest{
		ResearchId: asked.GetResearchId(), FollowupAnswers: answers, Depth: f.depth, Breadth: f.breadth,
		AnalysisConcurrency: f.concurrency, ReportWords: f.words, ReportSources: f.sources,
		Search: &researchv1.SearchOptions{Language: f.language, TimeRange: f.timeRange},
		Budget: f.budget.proto(), ValidateOnly: true,
	}
	planned, err := c.Start(ctx, request)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(a.Err, estimate(planned))
	if !f.yes && a.interactive() {
		err = a.goOn(ctx, lines)
	}
	request.ValidateOnly = false
	return request, err
}

func estimate(planned *researchv1.StartResearchResponse) string {
	e := planned.GetEstimate()
	text := fmt.Sprintf("Planned: %d queries", planned.GetPlannedQueries())
	if e == nil {
		return text
	}
	text += fmt.Sprintf(", up to %d pages, about %d model calls and %.0f thousand tokens",
		e.GetPages(), e.GetModelCalls(), math.Ceil(e.GetModelTokens()/1000))
	if e.GetCostUsd() > 0 {
		text += fmt.Sprintf(", about $%.2f", e.GetCostUsd())
	}
	return text
}

// sayHowToGoOn is printed after Ctrl-C.
func (a *app) sayHowToGoOn(c *connection, id string) {
	again := "fathom watch " + id
	if a.server != "" {
		again += " --server " + a.server
	}
	if a.data != "" {
		again += " --data " + a.data
	}
	if c.Own != nil {
		fmt.Fprintf(a.Err, "Stopped. The research is kept; go on with: %s\n", again)
		return
	}
	fmt.Fprintf(a.Err, "The research goes on at %s; watch it with: %s\n", c.URL, again)
}
