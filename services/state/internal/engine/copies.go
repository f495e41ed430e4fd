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
		same, err := isCopy(ctx, tx, documentID, other)
		if err != nil {
			return err
		}
		if same {
			return tx.MarkCopy(ctx, documentID, other.DocumentID)
		}
	}
	return nil
}

func isCopy(ctx context.Context, tx *store.Tx, documentID int64, other store.Alike) (bool, error) {
	switch {
	case other.SameContent:
		return true, nil
	case other.SameIdentity && other.Distance <= copies.Related:
		return true, nil
	case other.Distance > copies.Near:
		return false, nil
	}
	first, second, err := tx.Contents(ctx, documentID, other.DocumentID)
	if err != nil {
		return false, err
	}
	return copies.Same(first, second), nil
}
