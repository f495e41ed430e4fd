package builtin

import _ "embed"

// How much a word of a prompt says about what is asked, by how common it is in
// English. A word that any page may have carries no sentence alone.
const (
	weightCommon   = 0.25
	weightFrequent = 0.5
	weightUsual    = 0.75
	weightRare     = 1.0
)

// weight is what a stem counts for among the terms of a prompt.
func (l *lexer) weight(stem string) float64 {
	switch {
	case !l.english:
		return weightRare
	case commonStems.has(stem) || linkStems.has(stem) || isNumber(stem):
		return weightCommon
	case frequentStems.has(stem):
		return weightFrequent
	case usualStems.has(stem):
		return weightUsual
	}
	return weightRare
}

// heft sums the weights of the terms of a set that has says a text has.
func (l *lexer) heft(terms termSet, has func(string) bool) float64 {
	sum := 0.0
	for term := range terms {
		if has(term) {
			sum += l.weight(term)
		}
	}
	return sum
}

// linkStems are the stems of verbs that stand between what a prompt is about.
var linkStems = wordSet(`replac differ surviv avoid ensur guarante handl solv detect compar choos decid reach caus`)

// The stems that the most documents have in each of three kinds of text: news,
// encyclopedia, and abstracts of science. Words of one field are so not among them.
var (
	//go:embed stems/common.txt
	commonList string
	//go:embed stems/frequent.txt
	frequentList string
	//go:embed stems/usual.txt
	usualList string

	commonStems   = wordSet(commonList)
	frequentStems = wordSet(frequentList)
	usualStems    = wordSet(usualList)
)
