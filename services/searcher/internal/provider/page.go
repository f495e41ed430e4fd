package provider

import (
	"encoding/json"
	"mime"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/searcher/internal/normalize"
)

// page is one page of results. number_of_results is not read: SearXNG says 0 for
// engines that don't count.
type page struct {
	hits   []*workv1.Hit
	silent []string
}

// decodePage reads SearXNG's JSON. A result of an unexpected shape is left out; it
// must not cost the others.
func decodePage(body []byte, contentType string) (*page, error) {
	var answer struct {
		Results      *[]json.RawMessage `json:"results"`
		Unresponsive []json.RawMessage  `json:"unresponsive_engines"`
	}
	err := json.Unmarshal(body, &answer)
	if err != nil {
		media, _, mediaErr := mime.ParseMediaType(contentType)
		if mediaErr == nil && !strings.HasSuffix(media, "json") {
			return nil, fault.Transient(fault.Unreadable,
				"SearXNG answered with %s instead of JSON: is FATHOM_SEARXNG_URL the address of a SearXNG?", media)
		}
		return nil, fault.Transient(fault.Unreadable, "SearXNG's answer is broken JSON: %w", err)
	}
	if answer.Results == nil {
		return nil, fault.Transient(fault.Unreadable, "SearXNG's answer has no results field: is FATHOM_SEARXNG_URL the address of a SearXNG?")
	}
	read := &page{}
	for _, raw := range *answer.Results {
		hit := decodeHit(raw)
		if hit != nil {
			read.hits = append(read.hits, hit)
		}
	}
	for _, raw := range answer.Unresponsive {
		read.silent = union(read.silent, []string{decodeSilent(raw)})
	}
	return read, nil
}

func decodeHit(raw json.RawMessage) *workv1.Hit {
	var required struct {
		URL string `json:"url"`
	}
	err := json.Unmarshal(raw, &required)
	if err != nil || required.URL == "" {
		return nil
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(raw, &fields)
	if err != nil {
		return nil
	}
	hit := &workv1.Hit{
		Url:       required.URL,
		Title:     str(fields["title"]),
		Snippet:   str(fields["content"]),
		Engine:    str(fields["engine"]),
		Published: date(str(fields["publishedDate"])),
	}
	if hit.GetPublished() == nil {
		hit.Published = date(str(fields["pubdate"]))
	}
	return hit
}

// str is the string in raw, or nothing when it is of another type.
func str(raw json.RawMessage) string {
	var value string
	err := json.Unmarshal(raw, &value)
	if err != nil {
		return ""
	}
	return value
}

// dateLayouts are those that SearXNG and its ancestor write.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05", time.DateOnly,
}

func date(text string) *timestamppb.Timestamp {
	for _, layout := range dateLayouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		stamp := timestamppb.New(at)
		if stamp.IsValid() {
			return stamp
		}
	}
	return nil
}

const maxReason = 200

// decodeSilent makes "engine: reason" of an entry, which is a list of the engine's
// name, the reason, and in some versions whether it is suspended.
func decodeSilent(raw json.RawMessage) string {
	var parts []json.RawMessage
	err := json.Unmarshal(raw, &parts)
	if err != nil {
		return normalize.Text(str(raw), maxReason)
	}
	var words []string
	for _, part := range parts {
		if word := str(part); word != "" {
			words = append(words, word)
		}
	}
	return normalize.Text(strings.Join(words, ": "), maxReason)
}

// union adds what is new and not empty, in order.
func union(known, more []string) []string {
	for _, entry := range more {
		if entry != "" && !slices.Contains(known, entry) {
			known = append(known, entry)
		}
	}
	return known
}
