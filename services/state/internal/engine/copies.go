package engine

import (
	"context"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/copies"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// noteCopy marks a page that was just read as a copy, if the research has the same
// page already. A copy of a copy is a copy of its original: alikeness never adds up.
func noteCopy(ctx context.Context, tx *store.Tx, documentID int64, page *workv1.Page, hash string) error {
	alike, err := tx.Recognise(ctx, documentID, store.Fingerprint{
		ContentHash: hash, Similarity: page.GetSimilarity(),
		Identity: copies.Identity(page.GetCanonicalUrl(), page.GetFinalUrl()),
	}, copies.Near)
	if err != nil {
		return err
	}
	for _, other := range alike {
		if other.SameContent || other.SameIdentity && other.Distance <= copies.Related {
			return tx.MarkCopy(ctx, documentID, other.DocumentID)
		}
	}
	return noteNearCopy(ctx, tx, documentID, page, alike)
}

// noteNearCopy marks a page as a copy of the first one that says the same in the same words.
func noteNearCopy(ctx context.Context, tx *store.Tx, documentID int64, page *workv1.Page, alike []store.Alike) error {
	var near []int64
	for _, other := range alike {
		if other.Distance <= copies.Near {
			near = append(near, other.DocumentID)
		}
	}
	if len(near) == 0 {
		return nil
	}
	texts, err := tx.Contents(ctx, near)
	if err != nil {
		return err
	}
	for _, id := range near {
		if copies.Same(page.GetText(), texts[id]) {
			return tx.MarkCopy(ctx, documentID, id)
		}
	}
	return nil
}
