package engine

import (
	"context"
	"fmt"

	"github.com/fathom-research/fathom/services/state/internal/store"
)

// domains counts the pages of a research by their domain, against the most that one
// may have.
type domains struct {
	most  int
	pages map[string]int
}

// countDomains counts the pages of the hits' domains that were found before.
func (e *Engine) countDomains(ctx context.Context, tx *store.Tx, hits []store.Hit, documents []store.Document, fresh map[int64]bool) (*domains, error) {
	d := &domains{most: e.settings.DomainPages}
	if d.most == 0 || len(fresh) == 0 {
		return d, nil
	}
	var names []string
	var ids []int64
	for i, document := range documents {
		if fresh[document.ID] && hits[i].Domain != "" {
			names, ids = append(names, hits[i].Domain), append(ids, document.ID)
		}
	}
	var err error
	d.pages, err = tx.PagesOfDomains(ctx, names, ids)
	return d, err
}

// take makes room for one more page of a domain, if there is any left. What has no
// domain is a network's own, and not bounded.
func (d *domains) take(name string) bool {
	if d.most == 0 || name == "" {
		return true
	}
	if d.pages[name] >= d.most {
		return false
	}
	d.pages[name]++
	return true
}

func (d *domains) refusal(name string) string {
	return fmt.Sprintf("The research reads at most %d pages of %s.", d.most, name)
}
