package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/fathom-research/fathom/platform/process"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return json.NewEncoder(a.Out).Encode(map[string]string{"version": process.Version, "go": runtime.Version()})
			}
			fmt.Fprintf(a.Out, "fathom %s (%s, %s/%s)\n", process.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
