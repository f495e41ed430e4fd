package fakemodel

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that structured output uses.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   int               `json:"maxItems"`
	Enum       []string          `json:"enum"`
	Minimum    float64           `json:"minimum"`
}

// writer makes up an answer. The same prompt has the same answer, as with a model
// at temperature 0; different prompts have different ones.
type writer struct {
	random    *rand.Rand
	sentences []string
	sources   []int
	next      int
}

var (
	sentencePattern = regexp.MustCompile(`[A-Z][^.!?\n<>{}\[\]]{40,300}\.`)
	markPattern     = regexp.MustCompile(`\[(\d{1,3})\]`)
)

// newWriter lifts sentences from the end of the prompt, where the material is, and
// remembers the [n] that stands before each.
func newWriter(prompt string) *writer {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(prompt))
	w := &writer{random: rand.New(rand.NewPCG(sum.Sum64(), 1))}
	marks := markPattern.FindAllStringSubmatchIndex(prompt, -1)
	for _, span := range sentencePattern.FindAllStringIndex(prompt, -1) {
		sentence := prompt[span[0]:span[1]]
		if !strings.ContainsAny(sentence, "0123456789") {
			continue
		}
		source := 1
		for _, mark := range marks {
			if mark[0] > span[0] {
				break
			}
			source = number(prompt[mark[2]:mark[3]])
		}
		w.sentences = append(w.sentences, sentence)
		w.sources = append(w.sources, source)
	}
	return w
}

func number(digits string) int {
	n := 0
	for _, digit := range digits {
		n = n*10 + int(digit-'0')
	}
	return n
}

func (w *writer) fill(s schema) string {
	if s.Properties == nil && s.Type == nil {
		return w.sentence()
	}
	encoded, err := json.Marshal(w.value(s, ""))
	if err != nil {
		return "{}"
	}
	return string(encoded)
}

func (w *writer) value(s schema, name string) any {
	if len(s.Enum) > 0 {
		return s.Enum[w.random.IntN(len(s.Enum))]
	}
	switch kind(s) {
	case "object":
		return w.object(s)
	case "array":
		return w.array(s, name)
	case "integer":
		if w.next > 0 && len(w.sources) > 0 {
			return w.sources[(w.next-1)%len(w.sources)]
		}
		return max(1, int(s.Minimum))
	case "number":
		return 0.5 + w.random.Float64()/2
	case "boolean":
		return true
	default:
		return w.text(name)
	}
}

// object fills its fields in the order of their names, which keeps a claim and its
// quote the same sentence: the fields of one object share it.
func (w *writer) object(s schema) any {
	filled := make(map[string]any, len(s.Properties))
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	before := w.next
	furthest := before
	for _, name := range names {
		field := s.Properties[name]
		if kind(field) == "string" {
			w.next = before
		}
		filled[name] = w.value(field, name)
		furthest = max(furthest, w.next)
	}
	w.next = furthest
	return filled
}

func (w *writer) array(s schema, name string) any {
	n := max(s.MinItems, 3)
	if s.MaxItems > 0 {
		n = min(n, s.MaxItems)
	}
	if s.Items == nil {
		return []any{}
	}
	if kind(*s.Items) == "integer" {
		n = 1
	}
	items := make([]any, n)
	for i := range items {
		items[i] = w.value(*s.Items, name)
	}
	return items
}

func kind(s schema) string {
	switch given := s.Type.(type) {
	case string:
		return given
	case []any:
		for _, one := range given {
			if one != "null" {
				text, _ := one.(string)
				return text
			}
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return "string"
}

func (w *writer) text(name string) string {
	switch {
	case strings.Contains(name, "question"):
		return "Which " + w.words(3) + " matters most for the " + w.words(2) + "?"
	case strings.Contains(name, "quer"), strings.Contains(name, "title"), strings.Contains(name, "heading"):
		return w.words(5)
	case strings.Contains(name, "objective"), strings.Contains(name, "goal"):
		return "Find out how " + w.words(4) + " and what it costs"
	default:
		return w.sentence()
	}
}

func (w *writer) sentence() string {
	if len(w.sentences) == 0 {
		return "Nothing was given about " + w.words(3) + "."
	}
	w.next++
	return w.sentences[(w.next-1)%len(w.sentences)]
}

// words draws distinct words of a vocabulary large enough that near-doubles are rare.
func (w *writer) words(n int) string {
	drawn := make([]string, 0, n)
	for len(drawn) < n {
		word := vocabulary[w.random.IntN(len(vocabulary))]
		if !slices.Contains(drawn, word) {
			drawn = append(drawn, word)
		}
	}
	return strings.Join(drawn, " ")
}
