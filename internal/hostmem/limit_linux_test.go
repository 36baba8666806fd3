package hostmem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinuxLimit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	info := write("meminfo", "MemFree: 1 kB\nMemTotal:       2048 kB\n")
	if n, ok := memTotal(info); n != 2<<20 || !ok {
		t.Errorf("memTotal = %d, %v, want %d", n, ok, 2<<20)
	}
	if _, ok := memTotal(write("empty", "")); ok {
		t.Error("memTotal of nothing is known")
	}
	for text, want := range map[string]int{"1000\n": 1000, "max\n": 0, "": 0, "-1": 0} {
		if n, ok := readLimit(write("limit", text)); ok != (want > 0) || ok && n != want {
			t.Errorf("readLimit(%q) = %d, %v, want %d", text, n, ok, want)
		}
	}
	self := write("self", "0::/a/b\n4:memory:/c\n5:cpu:/d\n")
	got := cgroupFiles(self, "/r")
	want := "/r/memory.max /r/memory/memory.limit_in_bytes /r/a/b/memory.max /r/a/memory.max /r/memory/c/memory.limit_in_bytes"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("cgroupFiles = %s, want %s", s, want)
	}
}
