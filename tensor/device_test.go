package tensor_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/tensor"
)

// A device of NewCPU takes no more memory than it may, and data of New lies in
// memory that it does not have to take.
func TestNewCPU(t *testing.T) {
	d := tensor.NewCPU(&tensor.CPUOptions{Threads: 1, Memory: 1 << 20})
	defer d.Close()
	data := tensor.New(make([]float32, 1<<20)).To(d)
	if got := data.Add(1).Sum().Item(); got != 1<<20 {
		t.Errorf("the sum of 2^20 ones is %v", got)
	}
	if err := tensor.Eval(data.Add(1)); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("4 MiB on a device of 1 MiB: error %v, want %v", err, driver.ErrMemory)
	}
	if err := tensor.Try(func() { tensor.NewCPU(&tensor.CPUOptions{Memory: -1}) }); err == nil {
		t.Error("NewCPU with -1 bytes gave no error")
	}
}

// TENSORKEN_THREADS is a number of threads, or the CPU does not open.
func TestThreadsVariable(t *testing.T) {
	const variable = "TENSORKEN_THREADS"
	if os.Getenv(variable) != "" {
		if got := tensor.New([]float32{1, 2}).Sum().Item(); got != 3 {
			t.Errorf("1 + 2 = %v", got)
		}
		return
	}
	for text, bad := range map[string]bool{"1": false, "64": false, "0": true, "all": true} {
		c := exec.Command(os.Args[0], "-test.run=^TestThreadsVariable$")
		c.Env = append(os.Environ(), variable+"="+text)
		out, err := c.CombinedOutput()
		if told := strings.Contains(string(out), "no number of threads"); (err != nil) != bad || told != bad {
			t.Errorf("%s=%s: %v, %s", variable, text, err, out)
		}
	}
}
