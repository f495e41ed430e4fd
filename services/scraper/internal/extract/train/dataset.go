package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/extract"
)

// page is a page whose main content is known.
type page struct {
	id, address, site, kind string
	truth                   string
	// news is true for a page of a set that has nothing but articles.
	news bool
	// sample is nil where the page has no text, as before its scripts ran.
	sample *extract.Sample
}

// readArticles reads a set of articles: ground-truth.json maps the id of each to
// its "url" and "articleBody", and html/<id>.html.gz is what was served.
func readArticles(dir string) ([]*page, error) {
	var truths map[string]struct{ URL, ArticleBody string }
	if err := readJSON(filepath.Join(dir, "ground-truth.json"), &truths); err != nil {
		return nil, err
	}
	var pages []*page
	for id, t := range truths {
		p := &page{id: id, address: t.URL, kind: "article", truth: t.ArticleBody, news: true}
		if err := p.read(filepath.Join(dir, "html", id+".html.gz")); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// readKinds reads a set of pages of all kinds: metadata.json has the "page_type"
// of each in "files", dev/ground-truth/<id>.json its "url" and the "main_content"
// of its "ground_truth", and dev/html/<id>.html.gz is what was served.
func readKinds(dir string) ([]*page, error) {
	var about struct {
		Files map[string]struct {
			Kind string `json:"page_type"`
		}
	}
	if err := readJSON(filepath.Join(dir, "metadata.json"), &about); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "dev", "ground-truth", "*.json"))
	if err != nil {
		return nil, err
	}
	var pages []*page
	for _, file := range files {
		var t struct {
			URL   string
			Truth struct {
				Content string `json:"main_content"`
			} `json:"ground_truth"`
		}
		if err := readJSON(file, &t); err != nil {
			return nil, err
		}
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		p := &page{id: id, address: t.URL, kind: about.Files[id].Kind, truth: t.Truth.Content}
		if err := p.read(filepath.Join(dir, "dev", "html", id+".html.gz")); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// read makes the sample of a page, and finds the site that it is of.
func (p *page) read(file string) error {
	packed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	body, err := io.ReadAll(unpacked)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	p.sample, err = extract.NewSample(extract.Document{URL: p.address, ContentType: "text/html", Body: body})
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.Empty {
		p.sample = nil
	} else if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	p.site = p.id
	if u, err := url.Parse(p.address); err == nil && u.Host != "" {
		p.site = strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	}
	return nil
}
