package main

import (
	"crypto/sha256"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/fathom-research/fathom/services/scraper/internal/extract"
	"github.com/fathom-research/fathom/services/scraper/internal/extract/forest"
)

// How the forests grow; chosen by cross-validation.
var (
	growKinds   = forest.Params{Trees: 80, Depth: 4, Rate: 0.07, Smallest: 1, Shrink: 2, Rows: 0.8, Columns: 0.2, Forests: 3}
	growArticle = forest.Params{Trees: 60, Depth: 6, Rate: 0.1, Smallest: 0.5, Shrink: 1, Rows: 0.8, Columns: 0.3, Forests: 3}
	growFirst   = forest.Params{Trees: 100, Depth: 6, Rate: 0.1, Smallest: 0.5, Shrink: 1, Rows: 0.5, Columns: 0.2}
	growSecond  = forest.Params{Trees: 250, Depth: 6, Rate: 0.05, Smallest: 2, Shrink: 1, Rows: 0.5, Columns: 0.2, Forests: 3}
)

// innerFolds is in how many parts pages are cut to learn the second look from
// first looks at pages that those had not seen.
const innerFolds = 5

// learn makes a model of pages.
func learn(pages []*page) *extract.Model {
	pages = slices.DeleteFunc(slices.Clone(pages), func(p *page) bool { return p.sample == nil })
	for _, p := range pages {
		p.sample.BlockRows() // made here, as a sample is not for many at once
	}
	m := &extract.Model{}
	var second forest.Data
	var work sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	run := func(grow func()) {
		work.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			grow()
		})
	}
	looks := make([]*extract.Model, innerFolds)
	for i := range looks {
		rest, _ := split(pages, "inner", innerFolds, i)
		looks[i] = &extract.Model{}
		run(func() { looks[i].Kinds = learnKinds(rest) })
		run(func() { looks[i].First = learnFirst(rest) })
	}
	run(func() { m.Kinds = learnKinds(pages) })
	run(func() { m.First = learnFirst(pages) })
	run(func() { m.Article = learnArticle(pages) })
	work.Wait()
	for i, look := range looks {
		_, unseen := split(pages, "inner", innerFolds, i)
		for _, p := range unseen {
			first := look.First.All(p.sample.BlockRows())
			p.add(&second, p.sample.SecondRows(first, look.KindsOf(p.sample.PageRow())), 1)
		}
	}
	m.Second = forest.Grow(second, growSecond)
	return m
}

func learnKinds(pages []*page) []*forest.Forest {
	var kinds []*forest.Forest
	for _, kind := range extract.PageKinds {
		var data forest.Data
		for _, p := range pages {
			wanted := float32(0)
			if p.kind == kind {
				wanted = 1
			}
			data.Add(p.sample.PageRow(), wanted, 1)
		}
		kinds = append(kinds, forest.Grow(data, growKinds))
	}
	return kinds
}

func learnFirst(pages []*page) *forest.Forest {
	var data forest.Data
	for _, p := range pages {
		p.add(&data, p.sample.BlockRows(), 1)
	}
	return forest.Grow(data, growFirst)
}

func learnArticle(pages []*page) *forest.Forest {
	var data forest.Data
	for _, p := range pages {
		if p.kind == "article" {
			p.add(&data, p.sample.ArticleRows(), 1)
		}
	}
	return forest.Grow(data, growArticle)
}

// add adds the blocks of a page. Each counts by its share of the page's main
// content, long ones less than that.
func (p *page) add(data *forest.Data, rows [][]float32, weight float64) {
	const fewest, exponent = 50, 0.6
	wanted, words := p.sample.Shares(p.truth), p.sample.Words()
	total := max(fewest, len(runs(p.truth, 1)))
	for i, row := range rows {
		if words[i] == 0 {
			continue
		}
		share := min(1, float64(words[i])/float64(total))
		data.Add(row, wanted[i], float32(10*weight*math.Pow(share, exponent)))
	}
}

// split parts pages by their sites: those of one fold, and the rest.
func split(pages []*page, salt string, folds, fold int) ([]*page, []*page) {
	var rest, one []*page
	for _, p := range pages {
		if hash := sha256.Sum256([]byte(salt + "\n" + p.site)); int(hash[0])%folds == fold {
			one = append(one, p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest, one
}
