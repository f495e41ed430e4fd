package prompt

import (
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

// RepairAnswer is the answer to Repair.
type RepairAnswer struct {
	Sentences []struct {
		Number   int    `json:"number"`
		Sentence string `json:"sentence"`
		Sources  []int  `json:"sources"`
	} `json:"sentences"`
}

// Faulty is a sentence that its evidence does not bear out.
type Faulty struct {
	Text     string
	Problem  string
	Evidence []evidence.Item
}

const repairSystem = `A check found that some sentences of a report say what their evidence does not. You rewrite each of them so that it says only what its evidence says, as close to the words of the evidence as a readable sentence allows. A sentence that can't be mended that way gets an empty text, and will be left out.

` + rules + `

` + llm.Untrusted + `

Answer as JSON: {"sentences": [{"number": 1, "sentence": "…", "sources": [3]}, …]}, with the number of the sentence that each one replaces.`

var repairSchema = `{"type":"object","properties":{"sentences":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer","minimum":1},"sentence":{"type":"string"},"sources":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["number","sentence","sources"],"additionalProperties":false}}},"required":["sentences"],"additionalProperties":false}`

// Repair asks for sentences instead of the faulty ones, which are numbered from 1.
func Repair(faulty []Faulty, contextTokens int) llm.Request {
	var b strings.Builder
	var items []evidence.Item
	seen := make(map[int]bool)
	for i, sentence := range faulty {
		numbers := make([]string, 0, len(sentence.Evidence))
		for _, item := range sentence.Evidence {
			numbers = append(numbers, fmt.Sprintf("[%d]", item.Number))
			if !seen[item.Number] {
				seen[item.Number] = true
				items = append(items, item)
			}
		}
		fmt.Fprintf(&b, "Sentence %d: %s\n  Fault: %s. Evidence nearest to it: %s\n", i+1, sentence.Text, sentence.Problem, strings.Join(numbers, ""))
	}
	found, _ := material(items, contextTokens/2)
	fmt.Fprintf(&b, "\nEvidence:\n%s\n\nRewrite the %d sentences.", found, len(faulty))
	return request(repairSystem, b.String(), "repair", repairSchema)
}
