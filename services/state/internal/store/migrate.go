package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock under which schemas are changed.
const migrationLock = 0x666174686f6d

// Migrate brings the schema of the database at url up to date. Several processes
// may call it at once: one works, the others wait for it.
func Migrate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to migrate: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return migrate(ctx, tx) })
}

func migrate(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock))
	if err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	_, err = tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (
		version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
	if err != nil {
		return fmt.Errorf("make the table of versions: %w", err)
	}
	var version int
	err = tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		err := apply(ctx, tx, name, version)
		if err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
	}
	return nil
}

func apply(ctx context.Context, tx pgx.Tx, name string, from int) error {
	base := strings.TrimPrefix(name, "migrations/")
	prefix, _, _ := strings.Cut(base, "_")
	number, err := strconv.Atoi(prefix)
	if err != nil {
		return fmt.Errorf("read its number: %w", err)
	}
	if number <= from {
		return nil
	}
	statements, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, string(statements))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO schema_version (version, name) VALUES ($1, $2)", number, base)
	return err
}
