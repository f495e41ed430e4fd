package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/fathom-research/fathom/services/state/internal/store"
)

// BudgetError is a request that a budget has no room for. Its message is for the
// person; Budget names the budget for programs.
type BudgetError struct {
	Budget  string
	Message string
}

func (e *BudgetError) Error() string { return e.Message }

// purse is a budget with what was taken from it.
type purse struct {
	// owner is whose it is: research or tenant.
	owner  string
	budget store.Budget
	used   store.Used
	prices Prices
}

// purses are the budgets that a research draws on: its own and, if there is one, its
// tenant's.
func (e *Engine) purses(ctx context.Context, tx *store.Tx) ([]purse, error) {
	purses := []purse{{owner: "research", budget: tx.R.Budget, used: tx.R.Used(), prices: e.settings.Prices}}
	if !e.tenantBudget() {
		return purses, nil
	}
	used, err := tx.TenantUsed(ctx)
	if err != nil {
		return nil, err
	}
	return append(purses, purse{owner: "tenant", budget: e.settings.Tenant, used: used, prices: e.settings.Prices}), nil
}

func (e *Engine) tenantBudget() bool { return e.settings.Tenant != store.Budget{} }

// scarcest is the purse that has the least of something, and how much that is.
func (e *Engine) scarcest(ctx context.Context, tx *store.Tx, has func(p purse) int) (int, purse, error) {
	purses, err := e.purses(ctx, tx)
	if err != nil {
		return 0, purse{}, err
	}
	least, scarcest := has(purses[0]), purses[0]
	for _, p := range purses[1:] {
		n := has(p)
		if n < least {
			least, scarcest = n, p
		}
	}
	return least, scarcest, nil
}

// tasks is how many more tasks the purse pays that may use each tokens.
func (p purse) tasks(each int64) int {
	most := int64(math.MaxInt32)
	if p.budget.Tokens > 0 {
		most = min(most, p.tokensLeft()/each)
	}
	price := p.prices.worst(each)
	if p.budget.CostUSD > 0 && price > 0 {
		most = min(most, int64(math.Floor(p.costLeft()/price)))
	}
	return int(max(most, 0))
}

// overdrawn is 0 for a purse from which more was taken, or set aside, than was in it.
func (p purse) overdrawn() int {
	if p.budget.Tokens > 0 && p.tokensLeft() < 0 || p.budget.CostUSD > 0 && p.costLeft() < 0 {
		return 0
	}
	return 1
}

func (p purse) tokensLeft() int64 {
	return p.budget.Tokens - p.used.InputTokens - p.used.OutputTokens - p.used.Reserved
}

func (p purse) costLeft() float64 {
	spent := p.prices.Cost(float64(p.used.InputTokens), float64(p.used.OutputTokens))
	return p.budget.CostUSD - spent - p.prices.worst(p.used.Reserved)
}

// queries is how many more queries the purse pays.
func (p purse) queries() int { return left(p.budget.Queries, p.used.Queries) }

// pages is how many more pages the purse pays to read.
func (p purse) pages() int { return left(p.budget.Pages, p.used.Pages) }

func left(budget, used int) int {
	if budget == 0 {
		return math.MaxInt32
	}
	return max(0, budget-used)
}

// usedUp says that the purse cut a research short.
func (p purse) usedUp() string {
	if p.owner == "tenant" {
		return "The tenant's budget was used up."
	}
	return "The budget was used up."
}

// refusal is the answer to a request that needs more of what than the purse has.
func (p purse) refusal(what, need string) error {
	return &BudgetError{
		Budget:  p.owner + "_" + what,
		Message: fmt.Sprintf("The %s's budget of %s has no room for %s", p.owner, spoken[what], need),
	}
}

var spoken = map[string]string{"tokens": "model tokens", "cost_usd": "cost", "queries": "queries", "pages": "pages"}

// short is which of the two budgets of model use does not have tokens more.
func (p purse) short(tokens int64) string {
	if p.budget.Tokens > 0 && p.tokensLeft() < tokens {
		return "tokens"
	}
	return "cost_usd"
}
