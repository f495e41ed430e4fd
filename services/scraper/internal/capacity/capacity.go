// Package capacity tells how much work fits into the machine or the pod.
package capacity

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// fallback is assumed where a system does not tell its memory.
const fallback = 2 << 30

// Memory is how many bytes the process and its children may use: the limit of its
// control group, or else the memory of the machine.
func Memory() int64 {
	limit := machine()
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && bytes > 0 {
			limit = min(limit, bytes)
		}
	}
	return limit
}

func machine() int64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return fallback
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "MemTotal:" {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err == nil {
			return kilobytes << 10
		}
	}
	return fallback
}

// perPage is what reading one page by plain HTTP may take: its bytes, encoded and
// decoded, its tree and its text.
const perPage = 96 << 20

// Pages is how many pages may be read at once. Most of the time of one is waiting
// for its server, so it is many times the number of cores.
func Pages() int {
	return bounded(16*runtime.GOMAXPROCS(0), Memory()/2/perPage, 64)
}

// perTab is what an isolated tab takes beside the browser: 16 MiB for an empty one,
// several times that for the pages that need a browser.
const perTab = 160 << 20

// browser is what the browser takes by itself.
const browser = 400 << 20

// Tabs is how many pages may be open in the browser at once.
func Tabs() int {
	return bounded(4*runtime.GOMAXPROCS(0), (Memory()-browser)/2/perTab, 24)
}

func bounded(byCores int, byMemory int64, most int) int {
	return max(1, min(byCores, int(byMemory), most))
}
