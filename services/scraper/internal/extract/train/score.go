package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// measure is a precision and a recall.
type measure struct{ precision, recall float64 }

func (m measure) f1() float64 {
	if m.precision+m.recall == 0 {
		return 0
	}
	return 2 * m.precision * m.recall / (m.precision + m.recall)
}

// score compares a text with the truth by runs of n words that both have. Runs
// longer than one word heed case.
func score(truth, text string, n int) measure {
	wanted, got := runs(truth, n), runs(text, n)
	both, all, kept := 0, 0, 0
	for run, times := range wanted {
		all += times
		both += min(times, got[run])
	}
	for _, times := range got {
		kept += times
	}
	if all == 0 || kept == 0 {
		return measure{}
	}
	return measure{float64(both) / float64(kept), float64(both) / float64(all)}
}

func runs(text string, n int) map[string]int {
	if n == 1 {
		text = strings.ToLower(text)
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
	counts := map[string]int{}
	if len(words) == 0 {
		return counts
	}
	for i := range max(1, len(words)-n+1) {
		counts[strings.Join(words[i:min(i+n, len(words))], " ")]++
	}
	return counts
}

// shingle is how many words in a row count as one on articles.
const shingle = 4

// report prints how well texts match the pages they were made of: on sets of
// articles the F1 of mean precision and mean recall of shingles, on others the
// mean F1 of words, over all and by kind.
func report(out io.Writer, name string, pages []*page, texts map[*page]string) {
	var news measure
	articles, empty := 0, 0
	with := 0
	sums, counts := map[string]float64{}, map[string]int{}
	for _, p := range pages {
		if strings.TrimSpace(texts[p]) == "" {
			empty++
		}
		if !p.news {
			f1 := score(p.truth, texts[p], 1).f1()
			for _, key := range []string{"all kinds", p.kind} {
				sums[key] += f1
				counts[key]++
			}
			continue
		}
		m := score(p.truth, texts[p], shingle)
		articles++
		news.recall += m.recall
		if texts[p] != "" { // what was not found is wrong only once
			with++
			news.precision += m.precision
		}
	}
	fmt.Fprintf(out, "%-13s", name)
	if articles > 0 {
		news = measure{news.precision / float64(max(1, with)), news.recall / float64(articles)}
		fmt.Fprintf(out, "  articles (%d): %.3f (P %.3f R %.3f)", articles, news.f1(), news.precision, news.recall)
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(out, "  %s (%d): %.3f", key, counts[key], sums[key]/float64(counts[key]))
	}
	fmt.Fprintf(out, "  empty: %d\n", empty)
}
