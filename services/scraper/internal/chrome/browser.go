package chrome

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/fathom-research/fathom/platform/fault"
)

// process is one running Chrome. Pages hold a reference to it; a retired one closes
// when the last of them is done.
type process struct {
	ctx    context.Context
	cancel context.CancelFunc
	pid    int
	// shell is whether this is the headless shell, which has no windows.
	shell bool
	// sandbox is whether its own sandbox is on.
	sandbox bool
	// popups ends when the browser does.
	popups sync.WaitGroup
	// gone is closed when the connection to the browser is lost.
	gone <-chan struct{}

	mu      sync.Mutex
	pages   int
	served  int
	retired bool
	// killed counts the pages whose process was killed for its memory.
	killed int
	closed sync.Once
	done   chan struct{}
}

// startTimeout bounds the start of a browser on a busy machine.
const startTimeout = 30 * time.Second

// start launches a browser and returns when it answers.
func start(opts Options) (*process, error) {
	account, err := opts.account()
	if err != nil {
		return nil, err
	}
	dataDir, err := os.MkdirTemp("", profilePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("make a profile folder: %w", err)
	}
	if account != nil {
		err = os.Chown(dataDir, int(account.Uid), int(account.Gid))
		if err != nil {
			return nil, fmt.Errorf("hand the profile folder over: %w", err)
		}
	}
	sandbox := opts.sandboxed(account)
	options := append(opts.flags(dataDir, sandbox),
		chromedp.ExecPath(opts.Path),
		// Chrome sees nothing of the environment, where secrets may be.
		chromedp.NoInheritEnv,
		chromedp.Env("HOME="+dataDir, "TMPDIR="+dataDir, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { ownGroup(cmd, account) }),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator, chromedp.WithLogf(ignore), chromedp.WithErrorf(ignore))
	p := &process{ctx: ctx, sandbox: sandbox, done: make(chan struct{})}
	p.cancel = func() {
		stop()
		stopAllocator()
		_ = os.RemoveAll(dataDir)
	}
	watchdog := time.AfterFunc(startTimeout, p.cancel)
	// The browser lives as long as the context of its first action, so that one has
	// no timeout of its own.
	err = chromedp.Do(ctx)
	if !watchdog.Stop() || err != nil {
		p.cancel()
		if err == nil {
			err = context.DeadlineExceeded
		}
		return nil, fault.Transient(fault.Internal, "start Chrome: %w", err)
	}
	running := chromedp.FromContext(ctx).Browser
	p.pid = running.Process().Pid
	version, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	if err != nil {
		p.cancel()
		return nil, fault.Transient(fault.Internal, "ask Chrome what it is: %w", err)
	}
	p.shell = strings.HasPrefix(version.Product, "HeadlessChrome")
	opened := chromedp.BrowserEvents(ctx, target.TargetCreated)
	p.popups.Go(func() { p.closePopups(opened) })
	p.gone = running.LostConnection
	return p, nil
}

func ignore(string, ...any) {}

const profilePrefix = "fathom-chrome-"

// sweep removes the profiles of scrapers that were killed.
func sweep() {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), profilePrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range folders {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), profilePrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(folder)
		}
	}
}

// closePopups closes every window that a page opened, on whichever way.
func (p *process) closePopups(opened iter.Seq2[target.EventTargetCreated, error]) {
	for event, err := range opened {
		if err != nil {
			return
		}
		if event.TargetInfo.Type == "page" && event.TargetInfo.OpenerID != "" {
			// It fails when the window is gone with its page.
			_, _ = chromedp.CallBrowser(p.ctx, target.CloseTarget, target.CloseTargetParams{TargetID: event.TargetInfo.TargetID})
		}
	}
}

// ownGroup makes Chrome the leader of a process group, so that all of its processes
// can be killed at once, and has the kernel kill it when this process dies.
func ownGroup(cmd *exec.Cmd, account *syscall.Credential) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: account}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// account is the user that Chrome runs as, or nil for the user of this process.
func (o Options) account() (*syscall.Credential, error) {
	if o.User == "" {
		return nil, nil
	}
	found, err := user.Lookup(o.User)
	if err != nil {
		return nil, fault.Permanent(fault.Misconfigured, "FATHOM_SCRAPER_CHROME_USER: %w", err)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, fault.Permanent(fault.Misconfigured, "FATHOM_SCRAPER_CHROME_USER has no numeric id")
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, fault.Permanent(fault.Misconfigured, "FATHOM_SCRAPER_CHROME_USER has no numeric group")
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: os.Getuid() != 0}, nil
}

// sandboxed reports whether Chrome's own sandbox is on. Chrome refuses it to root.
func (o Options) sandboxed(account *syscall.Credential) bool {
	switch o.Sandbox {
	case "on":
		return true
	case "off":
		return false
	default:
		return os.Getuid() != 0 || (account != nil && account.Uid != 0)
	}
}

// enter counts a page in; it reports false when the browser takes no more.
func (p *process) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired || p.lost() {
		return false
	}
	p.pages++
	p.served++
	return true
}

func (p *process) leave() {
	p.mu.Lock()
	p.pages--
	last := p.retired && p.pages == 0
	p.mu.Unlock()
	if last {
		p.close()
	}
}

// retire lets the pages in it finish and takes no new ones.
func (p *process) retire() {
	p.mu.Lock()
	p.retired = true
	empty := p.pages == 0
	p.mu.Unlock()
	if empty {
		p.close()
	}
}

// blame remembers that a page's process is killed for its memory, and blamed tells
// the page that lost its process about it.
func (p *process) blame() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed++
}

func (p *process) blamed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed == 0 {
		return false
	}
	p.killed--
	return true
}

func (p *process) lost() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// kill ends a browser that does not do what it is told; its pages find it lost.
func (p *process) kill() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) }

// reap returns when no process of the group is left. As the first process of a pod
// this one inherits those whose parent has died, and must take their leave.
func (p *process) reap() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		_, err := syscall.Wait4(-p.pid, nil, syscall.WNOHANG, nil)
		if err != nil && len(group(p.pid)) == 0 {
			return
		}
		<-tick.C
	}
}

// close ends the browser with all of its processes, and returns when they are gone.
func (p *process) close() {
	p.closed.Do(func() {
		p.cancel()
		p.kill()
		p.popups.Wait()
		p.reap()
		close(p.done)
	})
	<-p.done
}
