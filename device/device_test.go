package device

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

func TestOpen(t *testing.T) {
	hardware := tensor.NewDevice(cpu.New(cpu.Options{})) // stand for GPUs
	software := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer hardware.Close()
	defer software.Close()
	first, second := tensor.NewDevice(cpu.New(cpu.Options{})), tensor.NewDevice(cpu.New(cpu.Options{}))
	defer first.Close()
	defer second.Close()
	missing := errors.New("no library: install one. Tried:\n\ta\n\tb")
	// A machine has a GPU, a software adapter, both or none.
	machine := func(devices ...*tensor.Device) func(*webgpu.Options) (*tensor.Device, error) {
		return func(o *webgpu.Options) (*tensor.Device, error) {
			if o == nil {
				o = &webgpu.Options{}
			}
			if o.LowPower || o.Validate || o.Library != "" {
				t.Errorf("options %+v", o)
			}
			for i, d := range devices {
				if o.Adapter == fmt.Sprint(i) || o.Adapter == "" && (d == hardware || o.Software) {
					return d, nil
				}
			}
			return nil, missing
		}
	}
	// A driver of NVIDIA finds two GPUs, none, or is missing.
	nvidia := func(found string) func(*cuda.Options) (*tensor.Device, error) {
		return func(o *cuda.Options) (*tensor.Device, error) {
			switch {
			case found == "":
				return nil, fmt.Errorf("%w: no such file", cuda.ErrNoDriver)
			case found == "none":
				return nil, cuda.ErrNoGPU
			case o == nil || o.Index == 0:
				return first, nil
			}
			return second, nil
		}
	}
	cpu := tensor.CPU()
	for _, c := range []struct {
		name, env string
		gpus      []*tensor.Device
		want      *tensor.Device
		why, err  string
		nvidia    string
	}{
		{"cpu", "", nil, cpu, "", "", ""},
		{"cpu", "webgpu", []*tensor.Device{hardware}, cpu, "", "", ""},
		{"", "", []*tensor.Device{hardware, software}, hardware, "(the fastest GPU)", "", ""},
		{"", "", []*tensor.Device{software}, cpu, noGPU, "", ""},
		{"", "", nil, cpu, noGPU, "", ""},
		{"", "cpu", []*tensor.Device{hardware}, cpu, `(TENSORKEN_DEVICE is "cpu")`, "", ""},
		{"", "webgpu:1", []*tensor.Device{hardware, software}, software, `(TENSORKEN_DEVICE is "webgpu:1")`, "", ""},
		{"webgpu", "cpu", []*tensor.Device{hardware, software}, hardware, "", "", ""},
		{"webgpu", "", []*tensor.Device{software}, software, "", "", ""},
		{"webgpu:1", "", []*tensor.Device{hardware, software}, software, "", "", ""},
		{"webgpu:0", "", []*tensor.Device{software}, software, "", "", ""},
		{"webgpu:2", "", []*tensor.Device{hardware, software}, nil, "", `device "webgpu:2": no library`, ""},
		{"webgpu", "", nil, nil, "", "device \"webgpu\": no library: install one. Tried:\n\ta\n\tb", ""},
		{"", "webgpu", nil, nil, "", `TENSORKEN_DEVICE is "webgpu": no library`, ""},
		{"webgpu:", "", []*tensor.Device{hardware}, nil, "", `device "webgpu:": want a number or a name after the colon`, ""},
		{"cuda", "cpu", nil, nil, "", `device "cuda": ` + cuda.ErrNoDriver.Error() + ": no such file", ""},
		{"rocm", "cpu", nil, nil, "", `device "rocm": there is no such device: use "cpu", "cuda", "webgpu"`, ""},
		{"cuda:x", "", nil, nil, "", `device "cuda:x": want a number after the colon`, ""},
		{"cpu:1", "", nil, nil, "", `device "cpu:1": there is no such device`, ""},
		{"webgpus", "", nil, nil, "", `device "webgpus": there is no such device`, ""},
		{"cuda", "", nil, first, "", "", "two"},
		{"cuda:1", "cpu", nil, second, "", "", "two"},
		{"", "cuda:1", nil, second, `(TENSORKEN_DEVICE is "cuda:1")`, "", "two"},
		{"", "", []*tensor.Device{hardware}, first, "(the fastest GPU)", "", "two"},
		{"", "", []*tensor.Device{hardware}, hardware, "(the fastest GPU, by WebGPU: " + cuda.ErrNoGPU.Error() + ")", "", "none"},
		{"cuda", "", []*tensor.Device{hardware}, nil, "", `device "cuda": cuda: the driver finds no GPU`, "none"},
	} {
		d, why, err := gpus{nvidia(c.nvidia), machine(c.gpus...)}.open(c.name, c.env)
		call := fmt.Sprintf("Open(%q) with TENSORKEN_DEVICE=%q and %d adapters", c.name, c.env, len(c.gpus))
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s…", call, err, c.err)
			}
			continue
		}
		if d != c.want || why != c.why || err != nil {
			t.Errorf("%s = %p %q %v, want %p %q", call, d, why, err, c.want, c.why)
		}
	}
}

// TestOpenHere opens devices of this machine, through the environment.
func TestOpenHere(t *testing.T) {
	t.Setenv(variable, "cpu")
	if d, why, err := Open(""); d != tensor.CPU() || why != `(TENSORKEN_DEVICE is "cpu")` || err != nil {
		t.Errorf("Open(\"\") with TENSORKEN_DEVICE=cpu = %v, %q, %v", d, why, err)
	}
	t.Setenv(variable, "")
	d, why, err := Open("")
	if err != nil || why == "" || strings.Contains(why, "\n") {
		t.Fatalf("Open(\"\") = %v, %q, %v, want a device, and why in a line", d, why, err)
	}
	defer d.Close()
	gpu, _, err := Open("webgpu")
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip("no GPU: ", err)
	}
	defer gpu.Close()
	if got := tensor.New([]float32{1, 2, 3}).To(gpu).Add(1).Sum().Item(); got != 9 {
		t.Errorf("computed %v on %v, want 9", got, gpu)
	}
}

// A function may open the device and close it as often as it is called.
func TestOpenAgain(t *testing.T) {
	t.Setenv(variable, "cpu")
	for i := range 2 {
		d, _, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Data[float32](tensor.New([]float32{1, 2}).To(d).Add(1))
		if err != nil || !slices.Equal(got, []float32{2, 3}) {
			t.Errorf("call %d of what opens a device and closes it computes %v, %v, want [2 3]", i+1, got, err)
		}
		if err := d.Close(); err != nil {
			t.Error("Close: ", err)
		}
	}
}

func TestUse(t *testing.T) {
	defer tensor.SetDefault(tensor.Default())
	t.Setenv(variable, "cpu")
	for name, want := range map[string]string{"cpu": "device cpu\n", "": "device cpu (TENSORKEN_DEVICE is \"cpu\")\n"} {
		var b strings.Builder
		if err := Use(name, &b); err != nil || b.String() != want || tensor.Default() != tensor.CPU() {
			t.Errorf("Use(%q) = %v, writes %q, want %q", name, err, &b, want)
		}
	}
	if err := Use("abacus", io.Discard); err == nil {
		t.Error(`Use("abacus"): no error`)
	}
}
