// Package pgtest gives each test a Postgres database of its own.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/platform/pgcluster"
)

// server is the cluster that the tests of one package share.
var server struct {
	sync.Mutex
	cluster   *pgcluster.Cluster
	dir       string
	url       string
	templates map[string]bool
}

// Main runs a package's tests and then stops the server that they used. Call it
// from TestMain. The server is private, started by the first test that wants it,
// unless FATHOM_TEST_DATABASE_URL names one whose user may create databases.
func Main(m *testing.M) int {
	code := m.Run()
	err := stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stop the tests' Postgres:", err)
		return 1
	}
	return code
}

// Database makes a database that the test has to itself and returns its URL. It is
// a copy of a template that migrate made once per package; tests that pass different
// migrations share one only when they pass the same name.
func Database(t testing.TB, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	return NamedDatabase(t, "main", migrate)
}

// NamedDatabase is Database with a template of another name.
func NamedDatabase(t testing.TB, template string, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	admin, err := start(ctx, template, migrate)
	if err != nil {
		t.Fatalf("prepare a database: %v", err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	err = execute(ctx, admin, fmt.Sprintf("CREATE DATABASE %s TEMPLATE template_%s", name, template))
	if err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		dropping, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err := execute(dropping, admin, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name))
		if err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	return withDatabase(admin, name)
}

// start starts the server when no test did, and makes the template. It returns the
// URL of the server's administrative database.
func start(ctx context.Context, template string, migrate func(ctx context.Context, url string) error) (string, error) {
	server.Lock()
	defer server.Unlock()
	if server.url == "" {
		err := launch(ctx)
		if err != nil {
			return "", err
		}
	}
	if server.templates[template] {
		return server.url, nil
	}
	name := "template_" + template
	err := execute(ctx, server.url, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	if err != nil {
		return "", err
	}
	err = execute(ctx, server.url, "CREATE DATABASE "+name)
	if err != nil {
		return "", err
	}
	err = migrate(ctx, withDatabase(server.url, name))
	if err != nil {
		return "", fmt.Errorf("migrate the template: %w", err)
	}
	server.templates[template] = true
	return server.url, nil
}

func launch(ctx context.Context) error {
	server.templates = make(map[string]bool)
	given := os.Getenv("FATHOM_TEST_DATABASE_URL")
	if given != "" {
		server.url = given
		return nil
	}
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return fmt.Errorf("make a folder for the tests' Postgres: %w", err)
	}
	// The server may run as another user than the tests.
	err = os.Chmod(dir, 0o711)
	if err != nil {
		return fmt.Errorf("open the folder of the tests' Postgres: %w", err)
	}
	server.dir = dir
	server.cluster, err = pgcluster.Start(ctx, pgcluster.Config{
		Dir: dir + "/cluster",
		Settings: map[string]string{
			"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300",
		},
	})
	if err != nil {
		return fmt.Errorf("start the tests' Postgres: %w", err)
	}
	server.url = server.cluster.URL()
	return nil
}

func stop() error {
	server.Lock()
	defer server.Unlock()
	if server.cluster == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := server.cluster.Stop(ctx)
	if err != nil {
		return err
	}
	return os.RemoveAll(server.dir)
}

func execute(ctx context.Context, target, statement string) error {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return fmt.Errorf("connect to the tests' Postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func withDatabase(admin, name string) string {
	parsed, err := url.Parse(admin)
	if err != nil {
		return admin
	}
	parsed.Path = "/" + name
	return parsed.String()
}
