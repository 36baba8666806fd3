package hostmem

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
)

func TestLimit(t *testing.T) {
	if n := Limit(); n < 1<<20 {
		t.Errorf("Limit() = %d", n)
	}
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

func TestGrow(t *testing.T) {
	var s []int32
	for i := range 100 {
		var err error
		if s, err = Grow(s, 3); err != nil || cap(s)-len(s) < 3 {
			t.Fatalf("Grow gives room for %d elements beside %d, %v", cap(s)-len(s), len(s), err)
		}
		s = append(s, int32(i))
	}
	if s[99] != 99 || len(s) != 100 {
		t.Errorf("it grew to %v", s)
	}
	if _, err := Grow(s, math.MaxInt/8); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Grow by too much: error %v, want %v", err, driver.ErrMemory)
	}
}

func TestMake(t *testing.T) {
	for _, c := range []struct{ count, size int }{{0, 4}, {3, 4}, {small, 4}} {
		if b, err := Make(c.count, c.size); err != nil || len(b) != c.count*c.size {
			t.Errorf("Make(%d, %d) gives %d bytes, %v", c.count, c.size, len(b), err)
		}
	}
	for _, c := range []struct{ count, size int }{{Limit(), 1}, {1 << 58, 8}, {math.MaxInt, 8}} {
		if _, err := Make(c.count, c.size); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Make(%d, %d): error %v, want %v", c.count, c.size, err, driver.ErrMemory)
		}
		if err := Check(c.count, c.size); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Check(%d, %d): error %v, want %v", c.count, c.size, err, driver.ErrMemory)
		}
	}
}
