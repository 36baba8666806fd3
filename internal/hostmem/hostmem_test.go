package hostmem

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/tensorken/tensorken/driver"
)

func TestLimit(t *testing.T) {
	if n, err := Limit(); n < 1<<20 || err != nil {
		t.Errorf("Limit() = %d, %v", n, err)
	}
}

// No variable gives WebAssembly more memory than it can address.
func TestLimitOfAddresses(t *testing.T) {
	for text, want := range map[string]int{"3MiB": 3 << 20, "1TiB": 1 << 40} {
		if runtime.GOARCH == "wasm" {
			want = min(want, 4<<30)
		}
		if n, err := limit(text); n != want || err != nil {
			t.Errorf("limit(%q) = %d, %v, want %d", text, n, err, want)
		}
	}
}

// TENSORKEN_MEMORY sets the limit. If it is no size, large allocations fail.
func TestVariable(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	const bad = `TENSORKEN_MEMORY: "6GB" is no size: want a number of bytes, such as 6GiB`
	switch os.Getenv(Variable) {
	case "3MiB":
		if n, err := Limit(); n != 3<<20 || err != nil {
			t.Errorf("Limit() = %d, %v, want %d", n, err, 3<<20)
		}
		return
	case "6GB":
		if n, err := Limit(); n != 0 || err == nil || err.Error() != bad {
			t.Errorf("Limit() = %d, %v, want error %s", n, err, bad)
		}
		if _, err := Make(2*small, 1); err == nil || err.Error() != bad {
			t.Errorf("Make of 2 MiB: error %v, want %s", err, bad)
		}
		return
	}
	for _, text := range []string{"3MiB", "6GB"} {
		c := exec.Command(os.Args[0], "-test.run=^TestVariable$")
		c.Env = append(os.Environ(), Variable+"="+text)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("with %s=%s: %v\n%s", Variable, text, err, out)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int{
		"1000": 1000, "7B": 7, "2KiB": 2 << 10, "512MiB": 512 << 20, "6GiB": 6 << 30, "1TiB": 1 << 40, "99999999TiB": math.MaxInt,
		"": 0, "0": 0, "-1": 0, "1.5GiB": 0, "6GB": 0, "GiB": 0, "many": 0,
	} {
		if n, err := parseSize(text); n != want || (err == nil) != (want > 0) {
			t.Errorf("parseSize(%q) = %d, %v, want %d", text, n, err, want)
		}
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
	limit, err := Limit()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ count, size int }{{limit, 1}, {1 << 58, 8}, {math.MaxInt, 8}} {
		if _, err := Make(c.count, c.size); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Make(%d, %d): error %v, want %v", c.count, c.size, err, driver.ErrMemory)
		}
		if err := Check(c.count, c.size); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Check(%d, %d): error %v, want %v", c.count, c.size, err, driver.ErrMemory)
		}
	}
}
