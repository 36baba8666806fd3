//go:build !race

// The race detector takes several times as much memory.

package safetensors_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// peak is the most memory that this process has had, in bytes.
func peak(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if !ok || err != nil {
		t.Skip("/proc/self/status has no VmHWM")
	}
	return n << 10
}

// A file's data lie once in memory when the CPU computes with them. The variable is for
// larger files: TENSORKEN_TEST_MIB=1024 go test -run TestLoadedOnce -v.
func TestLoadedOnce(t *testing.T) {
	const variable, pathVariable = "TENSORKEN_TEST_MIB", "TENSORKEN_TEST_FILE"
	const parts = 4
	mib, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		mib = 128
	}
	size := mib << 20
	if path := os.Getenv(pathVariable); path != "" { // the process to measure
		before := peak(t)
		model := map[string]tensor.Tensor{}
		if err := safetensors.Load(path, &model); err != nil {
			t.Fatal(err)
		}
		x := tensor.Ones(1, size/parts/4/1024)
		for name, w := range model {
			if got := w.Sum().Add(x.MatMul(w).Sum()).Item(); got != 0 {
				t.Errorf("%s: the sum of zeros is %v", name, got)
			}
		}
		grown := peak(t) - before
		t.Logf("a file of %d MiB takes %d MiB beside %d", mib, grown>>20, before>>20)
		if grown > size/100*110-before {
			t.Errorf("a file of %d MiB takes %d MiB beside %d, want at most 1.1 times the file in all", mib, grown>>20, before>>20)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "sparse.safetensors")
	header := "{"
	for i := range parts {
		header += fmt.Sprintf(`"w%d":{"dtype":"F32","shape":[%d,1024],"data_offsets":[%d,%d]},`, i, size/parts/4/1024, i*size/parts, (i+1)*size/parts)
	}
	header = header[:len(header)-1] + "}"
	length := []byte{byte(len(header)), byte(len(header) >> 8), 0, 0, 0, 0, 0, 0}
	if err := os.WriteFile(file, append(length, header...), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, int64(8+len(header)+size)); err != nil {
		t.Skip(err) // a file system without sparse files
	}
	c := exec.Command(os.Args[0], "-test.run=^TestLoadedOnce$", "-test.v")
	c.Env = append(os.Environ(), pathVariable+"="+file)
	out, err := c.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}
