// Package corpus makes a folder of documents searchable and readable over HTTP as
// the web is: a small website under stable URLs, with SearXNG's search API in front.
package corpus

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/cmd/fathom/internal/bm25"
)

// maxFile bounds a document that is indexed; a larger one is served but not found.
const maxFile = 64 << 20

// Document is one indexed file.
type Document struct {
	// Path is slash-separated and relative to the folder.
	Path  string
	Title string
	Text  string
	// Published is zero when the document does not say.
	Published time.Time
}

// Corpus is an indexed folder. It is safe for concurrent use.
type Corpus struct {
	files     fs.FS
	documents []Document
	index     *bm25.Index
}

// Load reads and indexes every HTML, Markdown, text and PDF file below files. A
// file that can't be read is logged and left out; names that start with a dot are
// skipped.
func Load(ctx context.Context, files fs.FS, logger *slog.Logger) (*Corpus, error) {
	paths, err := list(files)
	if err != nil {
		return nil, err
	}
	read := make([]*Document, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range paths {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			document, err := readDocument(files, name)
			if err != nil {
				logger.Warn("document left out", "path", name, "error", err)
				return nil
			}
			read[i] = document
			return nil
		})
	}
	err = group.Wait()
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	return build(files, read), nil
}

func build(files fs.FS, read []*Document) *Corpus {
	c := &Corpus{files: files, index: bm25.New()}
	for _, document := range read {
		if document == nil {
			continue
		}
		c.documents = append(c.documents, *document)
		c.index.Add(document.Title, document.Text)
	}
	return c
}

// Documents lists what was indexed, by path.
func (c *Corpus) Documents() []Document { return c.documents }

func list(files fs.FS) ([]string, error) {
	var paths []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case hidden(name) && entry.IsDir():
			return fs.SkipDir
		case hidden(name) || !entry.Type().IsRegular() || reader(name) == nil:
			return nil
		}
		paths = append(paths, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the corpus: %w", err)
	}
	slices.Sort(paths)
	return paths, nil
}

func hidden(name string) bool {
	return name != "." && strings.HasPrefix(path.Base(name), ".")
}

func readDocument(files fs.FS, name string) (*Document, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%d MiB is more than the %d MiB that are indexed", info.Size()>>20, maxFile>>20)
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	document, err := reader(name)(body)
	if err != nil {
		return nil, err
	}
	document.Path = name
	if document.Title == "" {
		document.Title = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	return document, nil
}

// reader is the function that reads files of this name, or nil.
func reader(name string) func([]byte) (*Document, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		return readHTML
	case ".md", ".markdown":
		return readMarkdown
	case ".txt", ".text":
		return readText
	case ".pdf":
		return readPDF
	default:
		return nil
	}
}
