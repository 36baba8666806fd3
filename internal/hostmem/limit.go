package hostmem

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// defaultBytes is the budget where the system does not say how much memory
// there is.
const defaultBytes = min(8<<30, math.MaxInt/2)

// Limit is the smaller of the machine's memory and what the process's control
// group may use, in bytes.
var Limit = sync.OnceValue(func() int {
	limit := math.MaxInt
	if n, ok := memTotal("/proc/meminfo"); ok {
		limit = n
	}
	for _, f := range cgroupFiles("/proc/self/cgroup", "/sys/fs/cgroup") {
		if n, ok := readLimit(f); ok {
			limit = min(limit, n)
		}
	}
	if limit == math.MaxInt {
		return defaultBytes
	}
	return limit
})

// memTotal reads the machine's memory as Linux tells it.
func memTotal(file string) (int, bool) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			return bytes(strings.TrimSuffix(rest, "kB"), 1<<10)
		}
	}
	return 0, false
}

// cgroupFiles lists the files that may hold a limit, of both versions of
// control groups: those of the process's own group and all above it.
func cgroupFiles(self, root string) []string {
	list := []string{filepath.Join(root, "memory.max"), filepath.Join(root, "memory/memory.limit_in_bytes")}
	data, err := os.ReadFile(self)
	if err != nil {
		return list
	}
	for line := range strings.Lines(string(data)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for dir := filepath.Clean(part[2]); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
			switch {
			case part[1] == "":
				list = append(list, filepath.Join(root, dir, "memory.max"))
			case part[1] == "memory":
				list = append(list, filepath.Join(root, "memory", dir, "memory.limit_in_bytes"))
			}
		}
	}
	return list
}

// readLimit reads a limit; "max" is none.
func readLimit(file string) (int, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	return bytes(string(data), 1)
}

// bytes reads a positive number of units of so many bytes; what an int has no
// room for is the greatest int.
func bytes(text string, unit int64) (n int, ok bool) {
	x, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || x <= 0 {
		return 0, false
	}
	if x > math.MaxInt/unit {
		return math.MaxInt, true
	}
	return int(x * unit), true
}
