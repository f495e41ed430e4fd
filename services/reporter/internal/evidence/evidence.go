// Package evidence is what a report may say: the extractions of a research, numbered.
package evidence

import (
	"strings"

	"github.com/fathom-research/fathom/llm/lexis"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Item is one extraction. Number counts from 1 within the report's material.
type Item struct {
	Number     int
	Extraction *workv1.Extraction
	Query      *workv1.ReportQuery

	// Content are the stems of all that the item says, with its title and headings.
	Content map[string]bool
	// Figures are its numbers, the date of its source included.
	Figures map[string]bool
	// Denied are the stems that it denies, Stated those of claim and quote alone.
	Denied, Stated map[string]bool
}

// Set is the material of one report.
type Set struct {
	items []Item
	// byID finds the item that stands for an extraction, doubles included.
	byID map[int64]int
}

// Collect numbers the extractions of a research in tree order. The same quote of the
// same page, found by several queries, counts once. When the pages are more than
// sources, those that carry most of what was asked are kept.
func Collect(queries []*workv1.ReportQuery, sources int) *Set {
	kept := choose(queries, sources)
	set := &Set{byID: make(map[int64]int)}
	type place struct{ url, quote string }
	numbers := make(map[place]int)
	for _, query := range queries {
		for _, extraction := range query.GetExtractions() {
			at := place{extraction.GetUrl(), extraction.GetQuote()}
			if !kept[extraction.GetUrl()] {
				continue
			}
			if numbers[at] == 0 {
				numbers[at] = len(set.items) + 1
				set.items = append(set.items, newItem(numbers[at], extraction, query))
			}
			set.byID[extraction.GetExtractionId()] = numbers[at]
		}
	}
	return set
}

func newItem(number int, extraction *workv1.Extraction, query *workv1.ReportQuery) Item {
	said := extraction.GetClaim() + "\n" + extraction.GetQuote()
	about := extraction.GetTitle() + "\n" + strings.Join(extraction.GetHeadingPath(), "\n")
	if published := extraction.GetPublished(); published.IsValid() {
		about += "\n" + published.AsTime().Format("2 January 2006")
	}
	return Item{
		Number: number, Extraction: extraction, Query: query,
		Content: lexis.ContentWithAcronyms(said + "\n" + about),
		Figures: lexis.Figures(said + "\n" + about),
		Stated:  lexis.Content(said),
		Denied:  lexis.Denied(said),
	}
}

// Len is the number of items.
func (s *Set) Len() int { return len(s.items) }

// Items are all items in order of their numbers.
func (s *Set) Items() []Item { return s.items }

// At is the item with a number; false when there is none.
func (s *Set) At(number int) (Item, bool) {
	if number < 1 || number > len(s.items) {
		return Item{}, false
	}
	return s.items[number-1], true
}

// Of are the items with the given numbers, unknown ones left out.
func (s *Set) Of(numbers []int) []Item {
	var items []Item
	for _, number := range numbers {
		item, ok := s.At(number)
		if ok {
			items = append(items, item)
		}
	}
	return items
}

// ByCitation are the numbers of the items that a citation stands for: those that it
// names, or all of its page when it names none.
func (s *Set) ByCitation(citation *workv1.Citation) []int {
	var named, page []int
	for _, id := range citation.GetExtractionIds() {
		if number := s.byID[id]; id != 0 && number != 0 {
			named = append(named, number)
		}
	}
	if len(named) > 0 {
		return named
	}
	for _, item := range s.items {
		if item.Extraction.GetUrl() == citation.GetUrl() {
			page = append(page, item.Number)
		}
	}
	return page
}
