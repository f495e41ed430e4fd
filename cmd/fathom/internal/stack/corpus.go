package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/fathom-research/fathom/cmd/fathom/internal/corpus"
)

// library is the corpus that is searched when there is no SearXNG.
type library struct {
	corpus   *corpus.Corpus
	listener net.Listener
	root     *os.Root
	// Name is the folder, or what stands for the sample.
	name string
}

// openLibrary indexes dir, or the sample when dir is empty, and listens. The pages'
// URLs hold the address, and researches that go on after a restart read them again:
// so the last address is taken again when it is free.
func openLibrary(ctx context.Context, dir, addr, data string, logger *slog.Logger) (*library, error) {
	l := &library{name: "the sample corpus"}
	files, err := corpus.Sample()
	if dir != "" {
		l.name = dir
		l.root, err = corpus.Folder(dir)
		if err == nil {
			files = l.root.FS()
		}
	}
	if err != nil {
		return nil, err
	}
	err = l.open(ctx, files, addr, data, logger)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *library) open(ctx context.Context, files fs.FS, addr, data string, logger *slog.Logger) error {
	var err error
	l.corpus, err = corpus.Load(ctx, files, logger)
	if err != nil {
		return err
	}
	if len(l.corpus.Documents()) == 0 {
		return fmt.Errorf("open the corpus: %s has no HTML, Markdown, text or PDF files", l.name)
	}
	if addr != "" {
		l.listener, err = listen(ctx, addr)
		if err != nil {
			return fmt.Errorf("serve the corpus (FATHOM_CORPUS_ADDR): %w", err)
		}
		return nil
	}
	l.listener, err = listenAgain(ctx, filepath.Join(data, "corpus-address"), logger)
	return err
}

func (l *library) addr() string { return l.listener.Addr().String() }

func (l *library) close() error {
	var failures []error
	if l.listener != nil {
		err := l.listener.Close()
		if !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	if l.root != nil {
		failures = append(failures, l.root.Close())
	}
	return errors.Join(failures...)
}

// listenAgain listens on the address in the file, else on a free one that it writes there.
func listenAgain(ctx context.Context, file string, logger *slog.Logger) (net.Listener, error) {
	last, err := os.ReadFile(file)
	if err == nil {
		listener, err := listen(ctx, strings.TrimSpace(string(last)))
		if err == nil {
			return listener, nil
		}
		logger.Warn("the corpus moves to another address: pages found before can't be read again", "error", err)
	}
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the corpus: %w", err)
	}
	err = os.WriteFile(file, []byte(listener.Addr().String()+"\n"), 0o644)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("remember the corpus's address: %w", err), listener.Close())
	}
	return listener, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}
