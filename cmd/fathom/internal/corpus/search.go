package corpus

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	engine      = "fathom corpus"
	pageSize    = 10
	snippetSize = 300
)

// searchAnswer is what SearXNG answers to /search?format=json.
type searchAnswer struct {
	Query               string         `json:"query"`
	NumberOfResults     int            `json:"number_of_results"`
	Results             []searchResult `json:"results"`
	Answers             []string       `json:"answers"`
	Corrections         []string       `json:"corrections"`
	Infoboxes           []string       `json:"infoboxes"`
	Suggestions         []string       `json:"suggestions"`
	UnresponsiveEngines [][]string     `json:"unresponsive_engines"`
}

type searchResult struct {
	URL           string   `json:"url"`
	Title         string   `json:"title"`
	Content       string   `json:"content"`
	Engine        string   `json:"engine"`
	Engines       []string `json:"engines"`
	Positions     []int    `json:"positions"`
	Score         float64  `json:"score"`
	Category      string   `json:"category"`
	PublishedDate *string  `json:"publishedDate"`
	Template      string   `json:"template"`
	ParsedURL     []string `json:"parsed_url"`
}

// search answers as SearXNG does, by GET and by POST. Time range, language,
// categories and safe search are accepted and change nothing: a folder has no
// engines to pass them to.
func (c *Corpus) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.FormValue("q"))
	if query == "" {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "No query"})
		return
	}
	switch r.FormValue("format") {
	case "json":
		writeJSON(w, http.StatusOK, c.answer(base(r), query, pageNumber(r)))
	case "", "html":
		c.searchPage(w, r, query)
	default:
		http.Error(w, "format must be json or html", http.StatusForbidden)
	}
}

func (c *Corpus) answer(site, query string, page int) searchAnswer {
	hits := c.index.Search(query)
	answer := searchAnswer{
		Query: query, NumberOfResults: len(hits), Results: []searchResult{},
		Answers: []string{}, Corrections: []string{}, Infoboxes: []string{}, Suggestions: []string{}, UnresponsiveEngines: [][]string{},
	}
	for i := (page - 1) * pageSize; i < min(page*pageSize, len(hits)); i++ {
		document := c.documents[hits[i].Document]
		answer.Results = append(answer.Results, searchResult{
			URL:           site + documentPath(document.Path),
			Title:         document.Title,
			Content:       c.index.Snippet(document.Text, query, snippetSize),
			Engine:        engine,
			Engines:       []string{engine},
			Positions:     []int{i + 1},
			Score:         hits[i].Score,
			Category:      "general",
			PublishedDate: published(document),
			Template:      "default.html",
			ParsedURL:     parsed(site, document.Path),
		})
	}
	return answer
}

func published(document Document) *string {
	if document.Published.IsZero() {
		return nil
	}
	text := document.Published.Format("2006-01-02T15:04:05")
	return &text
}

// parsed is the URL in the six parts of Python's urlparse.
func parsed(site, path string) []string {
	_, host, _ := strings.Cut(site, "://")
	return []string{"http", host, documentPath(path), "", "", ""}
}

func pageNumber(r *http.Request) int {
	number, err := strconv.Atoi(r.FormValue("pageno"))
	if err != nil || number < 1 || number > 1_000_000 {
		return 1
	}
	return number
}

func base(r *http.Request) string { return "http://" + r.Host }

func documentPath(path string) string {
	return (&url.URL{Path: "/doc/" + path}).EscapedPath()
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Nothing can be done about a client that is gone.
	_ = json.NewEncoder(w).Encode(body)
}
