package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Running is what a running stack tells others about itself.
type Running struct {
	PID int `json:"pid"`
	// URL is the gateway's address; empty while the stack is starting.
	URL string `json:"url"`
	// State is state's gRPC address.
	State string `json:"state"`
}

// folder is a data folder that this process has locked. The kernel drops the lock
// with the process, however that ends.
type folder struct {
	path string
	lock *os.File
}

// DefaultDataDir is where researches are kept unless somebody says otherwise. Postgres
// refuses root and runs as another user then, who may not enter root's home.
func DefaultDataDir(environment map[string]string) string {
	if os.Geteuid() == 0 {
		return "/var/lib/fathom"
	}
	if shared := environment["XDG_DATA_HOME"]; shared != "" {
		return filepath.Join(shared, "fathom")
	}
	return filepath.Join(environment["HOME"], ".local", "share", "fathom")
}

// BusyError says that another process uses the data folder.
type BusyError struct {
	Dir     string
	Running Running
}

func (e *BusyError) Error() string {
	if e.Running.URL == "" {
		return fmt.Sprintf("data folder %s: in use by another fathom that is starting or stopping; try again, or choose another folder with --data", e.Dir)
	}
	return fmt.Sprintf("data folder %s: in use by fathom (process %d) at %s; use that one, or choose another folder with --data", e.Dir, e.Running.PID, e.Running.URL)
}

// openFolder makes the folder when it is missing and locks it, or returns a *BusyError.
func openFolder(path string) (*folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	err = os.MkdirAll(absolute, 0o755)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	lock, err := os.OpenFile(filepath.Join(absolute, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		busy := &BusyError{Dir: absolute, Running: readRunning(absolute)}
		return nil, errors.Join(busy, lock.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the data folder %s: %w", absolute, err), lock.Close())
	}
	f := &folder{path: absolute, lock: lock}
	err = f.announce(Running{PID: os.Getpid()})
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// announce tells where the stack is reached. The file is written in place, since the
// lock is on it.
func (f *folder) announce(running Running) error {
	body, err := json.Marshal(running)
	if err != nil {
		return fmt.Errorf("describe the running stack: %w", err)
	}
	err = errors.Join(f.lock.Truncate(0), writeAt(f.lock, body))
	if err != nil {
		return fmt.Errorf("write the lock of the data folder: %w", err)
	}
	return nil
}

func writeAt(file *os.File, body []byte) error {
	_, err := file.WriteAt(body, 0)
	return err
}

func (f *folder) close() error {
	return errors.Join(f.lock.Truncate(0), f.lock.Close())
}

// Find returns the stack that runs on the data folder, or nil.
func Find(path string) (*Running, error) {
	lock, err := os.Open(filepath.Join(path, "lock"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	defer lock.Close()
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("look at the lock of %s: %w", path, err)
	}
	running := readRunning(path)
	return &running, nil
}

func readRunning(path string) Running {
	var running Running
	body, err := os.ReadFile(filepath.Join(path, "lock"))
	if err == nil {
		// A half-written file is a stack that is starting.
		_ = json.Unmarshal(body, &running)
	}
	return running
}
