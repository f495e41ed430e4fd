// Package store is the only code that speaks SQL. A change of a research is one
// transaction that begins with the lock on its row, see [Store.Update].
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotFound is returned for a research, task or text that is not stored.
var ErrNotFound = errors.New("not found")

// Hooks are called around commits, so that a test can lose a transaction before it
// or its answer after it. Nil hooks do nothing.
type Hooks struct {
	BeforeCommit func(ctx context.Context) error
	AfterCommit  func(ctx context.Context) error
}

// Store is the database. It is safe for concurrent use.
type Store struct {
	pool  *pgxpool.Pool
	hooks Hooks
}

// Open makes a Store on the database at url with at most connections connections.
// It does not connect yet.
func Open(ctx context.Context, url string, connections int, hooks Hooks) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	config.MaxConns = int32(connections)
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return &Store{pool: pool, hooks: hooks}, nil
}

// Close ends all connections.
func (s *Store) Close() { s.pool.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	err := s.pool.Ping(ctx)
	if err != nil {
		return fmt.Errorf("ping the database: %w", err)
	}
	return nil
}

// NewID makes an id for a row. Ids grow with time, which keeps their indexes dense.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// ValidID reports whether id has the form of an id.
func ValidID(id string) bool {
	return uuid.Validate(id) == nil && len(id) == 36
}

// Refused reports whether the database refused the values of a statement, which no
// further try with the same values can change.
func Refused(err error) bool {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || len(refusal.Code) < 2 {
		return false
	}
	switch refusal.Code[:2] {
	case "22", "23", "54": // data exception, integrity violation, program limit
		return true
	default:
		return false
	}
}

// querier is what reads need: the pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// collect reads all rows with scan.
func collect[T any](ctx context.Context, q querier, scan func(row pgx.CollectableRow) (T, error), sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// one reads one row with scan; without a row it is ErrNotFound.
func one[T any](ctx context.Context, q querier, scan func(row pgx.CollectableRow) (T, error), sql string, args ...any) (T, error) {
	var none T
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return none, err
	}
	value, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return none, ErrNotFound
	}
	return value, err
}

// Unreachable reports whether the server could not be asked, or is not ready for
// questions yet.
func Unreachable(err error) bool {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return len(refusal.Code) >= 2 && refusal.Code[:2] == "57" // starting up or shutting down
	}
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting)
}
