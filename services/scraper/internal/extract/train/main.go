// Command train makes the model that the extraction of main content embeds, out
// of pages whose main content is known, and measures it on pages it has not seen.
//
//	train -articles DIR -kinds DIR -folds 5          # cross-validation, by site
//	train -articles DIR -kinds DIR -aside            # measure on a third of the sites, held aside
//	train -articles DIR -kinds DIR -model model.bin  # learn from all, and write the model
//	train -articles DIR -kinds DIR -use model.bin    # measure a model that exists, on all
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fathom-research/fathom/services/scraper/internal/extract"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

type options struct {
	articles, kinds, model, use string
	folds, worst                int
	aside, tuning               bool
}

func run(args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.StringVar(&o.articles, "articles", "", "folder with a set of articles")
	flags.StringVar(&o.kinds, "kinds", "", "folder with a set of pages of all kinds")
	flags.StringVar(&o.model, "model", "", "file to write the model to that is learned")
	flags.StringVar(&o.use, "use", "", "measure the model in this file, which may have seen the pages")
	flags.IntVar(&o.folds, "folds", 0, "measure by cross-validation with so many folds")
	flags.BoolVar(&o.aside, "aside", false, "measure on the third of the sites that is held aside, with a model of the rest")
	flags.BoolVar(&o.tuning, "tuning", false, "leave out the third of the sites that is held aside")
	flags.IntVar(&o.worst, "worst", 0, "list so many of the worst pages")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pages, err := o.read()
	if err != nil {
		return err
	}
	tuning, aside := holdAside(pages)
	learned := pages
	switch {
	case o.aside:
		pages, learned = aside, tuning
	case o.tuning:
		pages, learned = tuning, tuning
	}
	if o.folds > 1 {
		o.crossValidate(out, pages)
		if o.model == "" {
			return nil
		}
	}
	model, err := o.makeModel(learned)
	if err != nil {
		return err
	}
	if o.aside || o.use != "" {
		o.measure(out, pages, func(*page) *extract.Model { return model })
	}
	return o.write(model)
}

// makeModel learns a model, unless there is one to use.
func (o *options) makeModel(pages []*page) (*extract.Model, error) {
	if o.use == "" {
		return learn(pages), nil
	}
	file, err := os.Open(o.use)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return extract.ReadModel(bufio.NewReader(file))
}

// crossValidate measures each fold of the pages with a model of the others.
func (o *options) crossValidate(out io.Writer, pages []*page) {
	models := map[*page]*extract.Model{}
	for fold := range o.folds {
		rest, unseen := split(pages, "outer", o.folds, fold)
		model := learn(rest)
		for _, p := range unseen {
			models[p] = model
		}
	}
	o.measure(out, pages, func(p *page) *extract.Model { return models[p] })
}

func (o *options) read() ([]*page, error) {
	var pages []*page
	for dir, read := range map[string]func(string) ([]*page, error){o.articles: readArticles, o.kinds: readKinds} {
		if dir == "" {
			continue
		}
		some, err := read(dir)
		if err != nil {
			return nil, err
		}
		pages = append(pages, some...)
	}
	if len(pages) == 0 {
		return nil, errors.New("no pages: name a folder with -articles, -kinds, or both")
	}
	slices.SortFunc(pages, func(a, b *page) int { return strings.Compare(a.id, b.id) })
	return pages, nil
}

// holdAside parts pages into those to choose by and those of a third of the
// sites, which no choice is made by.
func holdAside(pages []*page) ([]*page, []*page) { return split(pages, "fathom-held", 3, 0) }

// measure reports the model beside the libraries that it asks, each alone.
func (o *options) measure(out io.Writer, pages []*page, model func(*page) *extract.Model) {
	ours, trafilatura, readability := map[*page]string{}, map[*page]string{}, map[*page]string{}
	right := 0
	for _, p := range pages {
		if p.sample == nil {
			continue
		}
		ours[p] = p.sample.Text(model(p))
		trafilatura[p], readability[p] = p.sample.Alone()
		kinds := model(p).KindsOf(p.sample.PageRow())
		if extract.PageKinds[slices.Index(kinds, slices.Max(kinds))] == p.kind {
			right++
		}
	}
	report(out, "fathom", pages, ours)
	report(out, "trafilatura", pages, trafilatura)
	report(out, "readability", pages, readability)
	fmt.Fprintf(out, "kind right on %d of %d pages\n", right, len(pages))
	slices.SortFunc(pages, func(a, b *page) int {
		return int(1e6 * (score(a.truth, ours[a], 1).f1() - score(b.truth, ours[b], 1).f1()))
	})
	for _, p := range pages[:min(o.worst, len(pages))] {
		m := score(p.truth, ours[p], 1)
		fmt.Fprintf(out, "%.3f (P %.3f R %.3f)  %s %s %s\n", m.f1(), m.precision, m.recall, p.kind, p.id, p.address)
	}
}

func (o *options) write(model *extract.Model) error {
	if o.model == "" {
		return nil
	}
	file, err := os.Create(o.model)
	if err != nil {
		return err
	}
	if err := model.Write(file); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}
