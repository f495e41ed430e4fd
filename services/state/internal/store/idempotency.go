package store

import (
	"context"
	"fmt"
)

// KeyClaim is a request's wish for an idempotency key.
type KeyClaim struct {
	Method string
	Key    string
	// Digest identifies the request's body.
	Digest []byte
}

// KeyOwner is the request that holds a key.
type KeyOwner struct {
	ResearchID string
	Digest     []byte
}

// TakeKey gives the key to this transaction's research. When a request that was
// committed has it, it returns that one and false; while another one that may
// commit has it, it waits.
func (t *Tx) TakeKey(ctx context.Context, claim KeyClaim) (KeyOwner, bool, error) {
	var owner KeyOwner
	tag, err := t.tx.Exec(ctx, `INSERT INTO idempotency (tenant, method, key, digest, research_id)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, t.R.Tenant, claim.Method, claim.Key, claim.Digest, t.R.ID)
	if err != nil {
		return owner, false, fmt.Errorf("take an idempotency key: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return owner, true, nil
	}
	err = t.tx.QueryRow(ctx, "SELECT research_id::text, digest FROM idempotency WHERE tenant = $1 AND method = $2 AND key = $3",
		t.R.Tenant, claim.Method, claim.Key).Scan(&owner.ResearchID, &owner.Digest)
	if err != nil {
		return owner, false, fmt.Errorf("read an idempotency key: %w", err)
	}
	return owner, false, nil
}
