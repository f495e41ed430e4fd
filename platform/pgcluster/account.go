package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is who the server runs as. Postgres refuses root.
type account struct {
	name       string
	credential *syscall.Credential
}

func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			continue
		}
		return account{name: name, credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return account{}, errors.New("run Postgres: it refuses to run as root, and there is neither a user postgres nor a user nobody")
}

// makeDir creates dir for the account alone, and checks that the account can get
// there.
func (a account) makeDir(dir string) error {
	err := os.MkdirAll(filepath.Dir(dir), 0o755)
	if err != nil {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	err = os.Mkdir(dir, 0o700)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	err = a.own(dir)
	if err != nil {
		return err
	}
	return a.reaches(filepath.Dir(dir))
}

func (a account) own(dir string) error {
	if a.credential == nil {
		return nil
	}
	err := os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid))
	if err != nil {
		return fmt.Errorf("give the cluster's folder to %s: %w", a.name, err)
	}
	return nil
}

// reaches reports the first folder on the way to dir that the account may not enter.
func (a account) reaches(dir string) error {
	if a.credential == nil {
		return nil
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("look at the way to the cluster's folder: %w", err)
		}
		if !a.mayEnter(info) {
			return fmt.Errorf("run Postgres as %s (it refuses root): that user may not enter %s; choose another data folder, for instance below /var/lib", a.name, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (a account) mayEnter(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	mode := info.Mode().Perm()
	switch {
	case stat.Uid == a.credential.Uid:
		return mode&0o100 != 0
	case stat.Gid == a.credential.Gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
