package hostmem

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// systemLimit is the smaller of the machine's memory and the limits of the
// process's control groups.
func systemLimit() (limit int, ok bool) {
	limit, ok = memTotal("/proc/meminfo")
	for _, f := range cgroupFiles("/proc/self/cgroup", "/sys/fs/cgroup") {
		if n, found := readLimit(f); found && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	return limit, ok
}

// memTotal reads the machine's memory as Linux tells it.
func memTotal(file string) (int, bool) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			return scaled(strings.TrimSuffix(rest, "kB"), 1<<10)
		}
	}
	return 0, false
}

// cgroupFiles lists the files that may hold a limit, of both versions of control groups,
// for the process's own group and all above it.
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

// readLimit reads a limit; "max" means no limit.
func readLimit(file string) (int, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	return scaled(string(data), 1)
}
