package chrome

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// watchEvery is short against the time in which a page fills memory.
const watchEvery = 250 * time.Millisecond

// watch kills the processes of pages that take too much memory, and replaces a
// browser that does as a whole, until Close.
func (c *Chrome) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
			c.check()
		}
	}
}

func (c *Chrome) check() {
	c.mu.Lock()
	running := make([]*process, 0, len(c.living))
	for p := range c.living {
		running = append(running, p)
	}
	c.mu.Unlock()
	for _, p := range running {
		var total int64
		for pid, resident := range group(p.pid) {
			if pid != p.pid && resident > c.opts.PageMemory {
				c.opts.Logger.Warn("page killed for its memory", "pid", pid, "bytes", resident)
				p.blame()
				_ = syscall.Kill(pid, syscall.SIGKILL)
				continue
			}
			total += resident
		}
		if total <= c.opts.Memory {
			continue
		}
		c.mu.Lock()
		if c.current == p {
			c.replace("memory")
		}
		c.mu.Unlock()
	}
}

// group lists the processes of a process group with the memory that is theirs alone.
func group(leader int) map[int]int64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	members := make(map[int]int64)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// Asked of every process of the machine, so it must be cheap.
		found, err := syscall.Getpgid(pid)
		if err != nil || found != leader || livingGroup(pid) != leader {
			continue
		}
		members[pid] = ownMemory(pid)
	}
	return members
}

// livingGroup is the group of a process, or 0 when it has ended.
func livingGroup(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; behind it stand the state, the
	// parent and the group.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return 0
	}
	leader, _ := strconv.Atoi(string(fields[2]))
	return leader
}

// ownMemory is what is resident and not shared with other processes: every process
// of Chrome maps the same hundreds of megabytes of its binary.
func ownMemory(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
