package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/platform/rpc"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

func (a *app) deadCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "dead",
		Short: "Look at tasks that could not be processed, and try them again",
		Long: `These are for operators and speak to state itself, over gRPC: to --state, or to the
Fathom that runs on the data folder.`,
	}
	command.PersistentFlags().StringVar(&a.state, "state", a.environment["FATHOM_STATE_ADDR"], "gRPC address of state (FATHOM_STATE_ADDR)")
	var research string
	ls := &cobra.Command{
		Use: "ls", Short: "List dead tasks", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.withState(command.Context(), func(ctx context.Context, state researchv1.ResearchServiceClient) error {
				listed, err := state.ListDeadTasks(ctx, &researchv1.ListDeadTasksRequest{ResearchId: research})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(listed)
				}
				return a.printDead(listed)
			})
		},
	}
	ls.Flags().StringVar(&research, "research", "", "only those of this research")
	show := &cobra.Command{
		Use: "show SEQUENCE", Short: "Show a dead task with its body", Args: cobra.ExactArgs(1),
		RunE: a.onDead(func(ctx context.Context, state researchv1.ResearchServiceClient, sequence int32) error {
			task, err := state.GetDeadTask(ctx, &researchv1.GetDeadTaskRequest{Sequence: sequence})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(task)
			}
			fmt.Fprintf(a.Out, "%d  %s  research %s  task %s\n%s: %s\n\n%s\n", task.GetSequence(), task.GetKind(),
				task.GetResearchId(), task.GetTaskId(), task.GetReason(), clean(task.GetMessage()), task.GetBody())
			return nil
		}),
	}
	replay := &cobra.Command{
		Use: "replay SEQUENCE", Short: "Give a dead task another attempt, if its research still waits for it", Args: cobra.ExactArgs(1),
		RunE: a.onDead(func(ctx context.Context, state researchv1.ResearchServiceClient, sequence int32) error {
			answer, err := state.ReplayDeadTask(ctx, &researchv1.ReplayDeadTaskRequest{Sequence: sequence})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(answer)
			}
			fmt.Fprintf(a.Out, "%s  %s\n", answer.GetResearchId(), answer.GetStatus())
			return nil
		}),
	}
	command.AddCommand(ls, show, replay)
	return command
}

func (a *app) printDead(listed *researchv1.ListDeadTasksResponse) error {
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SEQUENCE\tAT\tKIND\tRESEARCH\tREASON\tMESSAGE")
	for _, t := range listed.GetDeadTasks() {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", t.GetSequence(), t.GetAt().AsTime().Local().Format(time.DateTime),
			t.GetKind(), t.GetResearchId(), t.GetReason(), short(t.GetMessage()))
	}
	return table.Flush()
}

func (a *app) onDead(do func(context.Context, researchv1.ResearchServiceClient, int32) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		sequence, err := strconv.ParseInt(args[0], 10, 32)
		if err != nil || sequence < 1 {
			return fmt.Errorf("%q is not a sequence number; fathom dead ls lists them", args[0])
		}
		return a.withState(command.Context(), func(ctx context.Context, state researchv1.ResearchServiceClient) error {
			return do(ctx, state, int32(sequence))
		})
	}
}

// withState calls state itself: at its stated address, else that of the stack on the
// data folder, which is started for the call when none runs.
func (a *app) withState(ctx context.Context, do func(context.Context, researchv1.ResearchServiceClient) error) error {
	if a.state != "" {
		return callState(ctx, a.state, do)
	}
	if a.server != "" {
		return errors.New("dead tasks are not served by the gateway: name state's gRPC address with --state")
	}
	return a.with(ctx, false, func(ctx context.Context, c *connection) error { return callState(ctx, c.State, do) })
}

func callState(ctx context.Context, addr string, do func(context.Context, researchv1.ResearchServiceClient) error) error {
	conn, err := rpc.Dial(addr)
	if err != nil {
		return err
	}
	err = do(ctx, researchv1.NewResearchServiceClient(conn))
	if refused, ok := status.FromError(err); ok && err != nil {
		err = fmt.Errorf("state at %s: %s", addr, refused.Message())
	}
	return errors.Join(err, conn.Close())
}
