// Command fathom is Fathom's command line, and all of Fathom in one process.
package main

import (
	"os"

	"github.com/fathom-research/fathom/cmd/fathom/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
