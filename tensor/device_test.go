package tensor_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
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
	if err := tensor.NewCPU(&tensor.CPUOptions{Threads: math.MaxInt}).Sync(); err != nil {
		t.Errorf("a device of any number of threads: %v", err)
	}
	if err := tensor.Try(func() { tensor.NewDevice(nil) }); err == nil || !strings.Contains(err.Error(), "NewDevice: the driver is nil") {
		t.Errorf("NewDevice(nil): %v", err)
	}
	if got := (*tensor.Device)(nil).String(); got != "no device" {
		t.Errorf("a nil device is %q", got)
	}
	if got := (&tensor.DeviceError{Device: "d", Op: "Data"}).Error(); got != "d: Data failed" {
		t.Errorf("an error without a cause is %q", got)
	}
	if err := tensor.Try(func() { tensor.NewCPU(&tensor.CPUOptions{Memory: -1}) }); err == nil {
		t.Error("NewCPU with -1 bytes gave no error")
	}
}

// A bad value of an environment variable of the CPU is an error that Catch returns.
func TestCPUVariables(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	const child = "TENSORKEN_TEST_CHILD"
	if os.Getenv(child) != "" {
		var sum float64
		err := tensor.Try(func() { sum = tensor.New([]float32{1, 2}).Sum().Item() })
		if err != nil || sum != 3 {
			t.Errorf("1 + 2 = %v, %v", sum, err)
		}
		return
	}
	for _, c := range []struct{ variable, value, want string }{
		{"TENSORKEN_THREADS", "1", ""},
		{"TENSORKEN_THREADS", "64", ""},
		{"TENSORKEN_THREADS", "0", `"0" is no number of threads`},
		{"TENSORKEN_THREADS", "all", `"all" is no number of threads`},
		{"TENSORKEN_MEMORY", "1GiB", ""},
		{"TENSORKEN_MEMORY", "all", `"all" is no size: want a number of bytes, such as 6GiB`},
	} {
		run := exec.Command(os.Args[0], "-test.run=^TestCPUVariables$")
		run.Env = append(os.Environ(), child+"=1", c.variable+"="+c.value)
		out, err := run.CombinedOutput()
		want := "PASS"
		if c.want != "" {
			want = "1 + 2 = 0, cpu: NewCPU: " + c.variable + ": " + c.want + "\n"
		}
		if (err != nil) != (c.want != "") || !strings.Contains(string(out), want) {
			t.Errorf("%s=%s: %v, %s, want %s", c.variable, c.value, err, out, want)
		}
	}
}

// TENSORKEN_THREADS is the default of NewCPU, too.
func TestNewCPUVariable(t *testing.T) {
	t.Setenv("TENSORKEN_THREADS", "none")
	err := tensor.Try(func() { tensor.NewCPU(nil) })
	if want := `cpu: NewCPU: TENSORKEN_THREADS: "none" is no number of threads`; err == nil || err.Error() != want {
		t.Errorf("NewCPU(nil) gave error %v, want %s", err, want)
	}
}
