package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Used is what was taken from a budget.
type Used struct {
	InputTokens  int64
	OutputTokens int64
	// Reserved are tokens that are set aside and not spent yet.
	Reserved int64
	Queries  int
	Pages    int
}

// Used is what the research has taken from budgets.
func (r *Research) Used() Used {
	return Used{
		InputTokens: r.Spending.InputTokens, OutputTokens: r.Spending.OutputTokens,
		Reserved: r.Reserved, Queries: r.QueriesMade, Pages: r.PagesUsed,
	}
}

func (u Used) plus(v Used) Used {
	return Used{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		Reserved: u.Reserved + v.Reserved, Queries: u.Queries + v.Queries, Pages: u.Pages + v.Pages,
	}
}

func (u Used) minus(v Used) Used {
	return u.plus(Used{
		InputTokens: -v.InputTokens, OutputTokens: -v.OutputTokens,
		Reserved: -v.Reserved, Queries: -v.Queries, Pages: -v.Pages,
	})
}

// TenantUsed is what the tenant's researches have taken, with this one's changes so
// far. The tenant's row is locked from here to the commit, always after the
// research's; what follows must not wait for anything that others hold.
func (t *Tx) TenantUsed(ctx context.Context) (Used, error) {
	if t.tenant == nil {
		err := t.insertTenant(ctx)
		if err != nil {
			return Used{}, err
		}
		used, err := one(ctx, t.tx, func(row pgx.CollectableRow) (Used, error) {
			var u Used
			return u, row.Scan(&u.InputTokens, &u.OutputTokens, &u.Reserved, &u.Queries, &u.Pages)
		}, `SELECT input_tokens, output_tokens, reserved_tokens, queries, pages
			FROM tenant_usage WHERE tenant = $1 FOR NO KEY UPDATE`, t.R.Tenant)
		if err != nil {
			return used, fmt.Errorf("lock the usage of tenant %q: %w", t.R.Tenant, err)
		}
		t.tenant = &used
	}
	return t.tenant.plus(t.R.Used().minus(t.began)), nil
}

// ChargeTenant adds what this transaction changed of the research's usage to its
// tenant's. It is the last thing before the commit.
func (t *Tx) ChargeTenant(ctx context.Context) error {
	change := t.R.Used().minus(t.began)
	if change == (Used{}) {
		return nil
	}
	if t.tenant == nil {
		err := t.insertTenant(ctx)
		if err != nil {
			return err
		}
	}
	err := t.tx.write(ctx, `UPDATE tenant_usage SET input_tokens = input_tokens + $2, output_tokens = output_tokens + $3,
		reserved_tokens = greatest(0, reserved_tokens + $4), queries = queries + $5, pages = pages + $6 WHERE tenant = $1`,
		t.R.Tenant, change.InputTokens, change.OutputTokens, change.Reserved, change.Queries, change.Pages)
	if err != nil {
		return fmt.Errorf("charge tenant %q: %w", t.R.Tenant, err)
	}
	return nil
}

func (t *Tx) insertTenant(ctx context.Context) error {
	err := t.tx.write(ctx, "INSERT INTO tenant_usage (tenant) VALUES ($1) ON CONFLICT DO NOTHING", t.R.Tenant)
	if err != nil {
		return fmt.Errorf("open the usage of tenant %q: %w", t.R.Tenant, err)
	}
	return nil
}

// keepUsage remembers what a research used that is about to be deleted.
func (t *Tx) keepUsage(ctx context.Context) error {
	used := t.R.Used()
	return t.tx.write(ctx, `INSERT INTO tenant_usage AS u
		(tenant, deleted_input_tokens, deleted_output_tokens, deleted_queries, deleted_pages) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant) DO UPDATE SET
			deleted_input_tokens = u.deleted_input_tokens + excluded.deleted_input_tokens,
			deleted_output_tokens = u.deleted_output_tokens + excluded.deleted_output_tokens,
			deleted_queries = u.deleted_queries + excluded.deleted_queries,
			deleted_pages = u.deleted_pages + excluded.deleted_pages`,
		t.R.Tenant, used.InputTokens, used.OutputTokens, used.Queries, used.Pages)
}

// CountTenants sets every tenant's usage to what its researches come to, for a
// server that was without a budget of tenants before. While it counts, nothing is
// charged: whoever changed a research before is counted, or charges afterwards.
func (s *Store) CountTenants(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		for _, sql := range []string{
			"LOCK TABLE tenant_usage IN EXCLUSIVE MODE",
			`INSERT INTO tenant_usage (tenant) SELECT DISTINCT tenant FROM research ON CONFLICT DO NOTHING`,
			`UPDATE tenant_usage u SET
				input_tokens = u.deleted_input_tokens + coalesce(r.input_tokens, 0),
				output_tokens = u.deleted_output_tokens + coalesce(r.output_tokens, 0),
				reserved_tokens = coalesce(r.reserved_tokens, 0),
				queries = u.deleted_queries + coalesce(r.queries, 0),
				pages = u.deleted_pages + coalesce(r.pages, 0)
			FROM tenant_usage every LEFT JOIN (
				SELECT tenant, sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
					sum(reserved_tokens)::bigint AS reserved_tokens, sum(queries_made) AS queries, sum(pages_used) AS pages
				FROM research GROUP BY tenant) r ON r.tenant = every.tenant
			WHERE u.tenant = every.tenant`,
		} {
			_, err := tx.Exec(ctx, sql)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count what tenants have used: %w", err)
	}
	return nil
}
