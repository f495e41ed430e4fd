package provider

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
)

// judgeSilence decides about a search without hits whose engines did not all answer.
// When an engine that was asked did answer, there is nothing to be found: nil. When
// none did, or that can't be told, nothing is known yet and another try may help.
func (s *SearXNG) judgeSilence(ctx context.Context, categories, silent []string) error {
	unavailable := fault.Transient(fault.Unavailable, "no engine of SearXNG at %s answered: %s", s.name(), strings.Join(silent, "; "))
	body, _, err := s.get(ctx, "config", nil)
	if err != nil {
		return unavailable
	}
	var config struct {
		Engines []struct {
			Name       string   `json:"name"`
			Categories []string `json:"categories"`
			Enabled    bool     `json:"enabled"`
		} `json:"engines"`
	}
	err = json.Unmarshal(body, &config)
	if err != nil {
		return unavailable
	}
	if len(categories) == 0 {
		categories = []string{"general"}
	}
	for _, engine := range config.Engines {
		asked := engine.Enabled && slices.ContainsFunc(engine.Categories, func(category string) bool {
			return slices.Contains(categories, category)
		})
		if asked && !isSilent(engine.Name, silent) {
			return nil
		}
	}
	return unavailable
}

func isSilent(engine string, silent []string) bool {
	return slices.ContainsFunc(silent, func(entry string) bool {
		return entry == engine || strings.HasPrefix(entry, engine+": ")
	})
}
