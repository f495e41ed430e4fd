package extract

import (
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// structured is what a page says of itself in JSON-LD.
type structured struct {
	types     map[string]bool
	author    string
	published string
	publisher string
	language  string
}

// structuredOf reads the JSON-LD of a page. What is no JSON is left out.
func structuredOf(doc *html.Node) structured {
	s := structured{types: map[string]bool{}}
	for _, n := range collect(doc, atom.Script) {
		if !strings.Contains(strings.ToLower(attr(n, "type")), "ld+json") || n.FirstChild == nil {
			continue
		}
		var value any
		if json.Unmarshal([]byte(strings.TrimSpace(n.FirstChild.Data)), &value) == nil {
			s.read(value, 0)
		}
	}
	return s
}

func (s *structured) read(value any, depth int) {
	if depth > 8 {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			s.read(item, depth+1)
		}
	case map[string]any:
		s.object(v)
		for _, key := range []string{"@graph", "mainEntity", "itemListElement"} {
			s.read(v[key], depth+1)
		}
	}
}

func (s *structured) object(v map[string]any) {
	for _, t := range texts(v["@type"]) {
		s.types[strings.ToLower(t)] = true
	}
	if s.published == "" {
		s.published, _ = v["datePublished"].(string)
	}
	if s.author == "" {
		s.author = strings.Join(namesOf(v["author"]), ", ")
	}
	if s.publisher == "" {
		s.publisher = strings.Join(namesOf(v["publisher"]), ", ")
	}
	if s.language == "" {
		s.language, _ = v["inLanguage"].(string)
	}
}

// namesOf is the names of one or more people or organizations.
func namesOf(value any) []string {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "://") {
			return nil
		}
		return []string{squash(v)}
	case map[string]any:
		return namesOf(v["name"])
	case []any:
		var names []string
		for _, item := range v {
			names = append(names, namesOf(item)...)
		}
		return names[:min(len(names), 20)]
	}
	return nil
}

func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	}
	return nil
}
