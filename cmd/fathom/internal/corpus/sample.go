package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
)

//go:embed all:sample
var sampleFiles embed.FS

// Sample is the corpus that comes with Fathom: a few dozen pages about distributed
// systems and what surrounds them.
func Sample() (fs.FS, error) {
	sample, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		return nil, fmt.Errorf("open the sample corpus: %w", err)
	}
	return sample, nil
}

// Folder opens dir. Symbolic links that lead out of it are not followed. The
// caller closes the root.
func Folder(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the corpus: %w", err)
	}
	return root, nil
}
