// Package draft is a report before it is Markdown: sentences with the numbers of the
// evidence that they are written from.
package draft

import "strings"

// Report is a whole report.
type Report struct {
	Title    string
	Summary  []Sentence
	Sections []Section
	// Notes are sections that speak of the research itself and cite nothing.
	Notes []Note
}

// Section is a part under one heading of level 2, or level 3 when Sub is set.
type Section struct {
	Heading    string
	Sub        bool
	Paragraphs []Paragraph
}

// Paragraph is a run of sentences, or the items of a list.
type Paragraph struct {
	List      bool
	Sentences []Sentence
}

// Sentence is one factual sentence without its citation marks.
type Sentence struct {
	Text     string
	Evidence []int
	// Supported are the numbers of the evidence that a check found to bear it out.
	Supported []int
}

// Note is Markdown under a heading.
type Note struct {
	Heading  string
	Markdown string
}

// Each calls fn with every sentence; one for which it returns false is removed, and
// so is what is empty without it. It returns how many were removed.
func (r *Report) Each(fn func(sentence *Sentence) bool) int {
	removed := 0
	r.Summary, removed = keep(r.Summary, fn)
	sections := r.Sections[:0]
	for _, section := range r.Sections {
		paragraphs := section.Paragraphs[:0]
		for _, paragraph := range section.Paragraphs {
			var gone int
			paragraph.Sentences, gone = keep(paragraph.Sentences, fn)
			removed += gone
			if len(paragraph.Sentences) > 0 {
				paragraphs = append(paragraphs, paragraph)
			}
		}
		section.Paragraphs = paragraphs
		if len(paragraphs) > 0 {
			sections = append(sections, section)
		}
	}
	r.Sections = sections
	return removed
}

func keep(sentences []Sentence, fn func(*Sentence) bool) ([]Sentence, int) {
	kept := make([]Sentence, 0, len(sentences))
	for i := range sentences {
		if fn(&sentences[i]) {
			kept = append(kept, sentences[i])
		}
	}
	return kept, len(sentences) - len(kept)
}

// Words counts the words of all sentences.
func (r *Report) Words() int {
	total := 0
	count := func(sentences []Sentence) {
		for _, sentence := range sentences {
			total += len(strings.Fields(sentence.Text))
		}
	}
	count(r.Summary)
	for _, section := range r.Sections {
		for _, paragraph := range section.Paragraphs {
			count(paragraph.Sentences)
		}
	}
	return total
}

// Shorten removes sentences from the end of the longest section until the report has
// at most words, but leaves each section its first.
func (r *Report) Shorten(words int) {
	for total := r.Words(); total > words; {
		longest, most := -1, 1
		for i, section := range r.Sections {
			if n := section.count(); n > most {
				longest, most = i, n
			}
		}
		if longest < 0 {
			return
		}
		total -= r.Sections[longest].dropLast()
	}
}

func (s *Section) count() int {
	n := 0
	for _, paragraph := range s.Paragraphs {
		n += len(paragraph.Sentences)
	}
	return n
}

func (s *Section) dropLast() int {
	end := len(s.Paragraphs) - 1
	sentences := s.Paragraphs[end].Sentences
	last := sentences[len(sentences)-1]
	s.Paragraphs[end].Sentences = sentences[:len(sentences)-1]
	if len(sentences) == 1 {
		s.Paragraphs = s.Paragraphs[:end]
	}
	return len(strings.Fields(last.Text))
}
