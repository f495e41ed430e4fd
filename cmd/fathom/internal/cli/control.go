package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fathom-research/fathom/cmd/fathom/internal/client"
)

func (a *app) controlCommand(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				state, err := c.Control(ctx, args[0], client.Control(name))
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(state)
				}
				fmt.Fprintf(a.Out, "%s  %s\n", state.GetResearchId(), state.GetStatus())
				if name == string(client.Resume) && c.Own != nil {
					fmt.Fprintf(a.Err, "Nothing works on it yet: go on with fathom watch %s, or fathom up.\n", args[0])
				}
				return nil
			})
		},
	}
}

func (a *app) rmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rm ID",
		Short: "Remove all that is stored of a research",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.with(command.Context(), false, func(ctx context.Context, c *connection) error {
				return c.Delete(ctx, args[0])
			})
		},
	}
}

func (a *app) watchCommand() *cobra.Command {
	var f researchFlags
	command := &cobra.Command{
		Use:   "watch ID",
		Short: "Show how a research goes on, and its report at the end",
		Long: `Shows a research until it has ended, then its report. When no Fathom runs on the
data folder, everything is started in this process and the research goes on from
where it was.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			work, c, err := a.connect(ctx, true)
			if err != nil {
				return err
			}
			if c.Own != nil {
				a.describe(c.Own)
			}
			err = a.follow(work, c, args[0])
			if err == nil {
				err = a.deliver(work, c, args[0], f)
			}
			return a.end(ctx, c, args[0], cause(work, err))
		},
	}
	command.Flags().StringVarP(&f.out, "output", "o", "", "file for the report")
	command.Flags().BoolVar(&f.print, "print", false, "print the report although -o is given")
	return command
}
