package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

func TestPrintGPUs(t *testing.T) {
	for _, c := range []struct {
		gpus []cuda.GPU
		err  error
		want string
	}{
		{[]cuda.GPU{{Name: "Fast 9000", Memory: 141 << 30, Capability: 90}, {Name: "Slow", Memory: 3 << 29, Capability: 86}}, nil,
			"cuda:0      Fast 9000, 141 GiB, compute capability 9.0\ncuda:1      Slow, 1.5 GiB, compute capability 8.6\n\n"},
		{nil, cuda.ErrNoGPU, "cuda        the driver finds no GPU: see CUDA_VISIBLE_DEVICES and what nvidia-smi lists\n\n"},
	} {
		var b bytes.Buffer
		printGPUs(&b, c.gpus, c.err)
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("printGPUs of %d (-want +got):\n%s", len(c.gpus), diff)
		}
	}
}

func TestPrintAdapters(t *testing.T) {
	var b bytes.Buffer
	printAdapters(&b, "/lib/dawn.so", []wgpu.Adapter{{
		Name: "Fast 9000", Vendor: "fast", Backend: "Vulkan", Driver: "Fast 1.2", Kind: wgpu.Discrete, VendorID: 0x10de, DeviceID: 0x2335, Memory: 80 << 30,
		SubgroupMin: 32, SubgroupMax: 32, Features: []string{wgpu.Subgroups, wgpu.TimestampQuery},
		Limits: wgpu.Limits{StorageBuffers: 16, StorageBinding: 1<<31 - 1, Buffer: 1 << 40, WorkgroupStorage: 48 << 10,
			WorkgroupSize: 1024, WorkgroupSizes: [3]int{1024, 1024, 64}, Workgroups: 65535},
	}, {Name: "Slow", Kind: wgpu.Software, Memory: 16 << 30, SubgroupMin: 8, SubgroupMax: 16, Features: []string{wgpu.Subgroups}}, {Name: "Silent"}})
	want := `library     /lib/dawn.so

webgpu:0    Fast 9000
  vendor     fast, 0x10de:0x2335
  type       discrete
  backend    Vulkan
  driver     Fast 1.2
  memory     80 GiB
  buffers    up to 1 TiB; a shader takes 16, up to 2 GiB of each
  workgroups up to 1024 threads (1024×1024×64) with 48 KiB; 65535 in a row
  features   subgroups of 32 lanes, timestamp-query

webgpu:1    Slow
  vendor     unknown, 0x0:0x0
  type       software
  backend    none
  driver     none
  memory     16 GiB, the host's
  buffers    up to 0 B; a shader takes 0, up to 0 B of each
  workgroups up to 0 threads (0×0×0) with 0 B; 0 in a row
  features   subgroups of 8 to 16 lanes

webgpu:2    Silent
  vendor     unknown, 0x0:0x0
  type       unknown
  backend    none
  driver     none
  memory     unknown
  buffers    up to 0 B; a shader takes 0, up to 0 B of each
  workgroups up to 0 threads (0×0×0) with 0 B; 0 in a row
  features   none
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("printAdapters (-want +got):\n%s", diff)
	}
}

func TestDescribe(t *testing.T) {
	adapters := []wgpu.Adapter{{Name: "Slow"}, {Name: "Fast", Backend: "Vulkan", Driver: "Fast 1.2"}}
	for device, want := range map[string]string{"webgpu (Fast)": "Fast, Vulkan, Fast 1.2", "webgpu (Gone)": "webgpu (Gone)"} {
		if got := describeAmong(adapters, device); got != want {
			t.Errorf("describeAmong(%q) = %q, want %q", device, got, want)
		}
	}
}

// A gpuTypes device has only the element types of GPUs.
type gpuTypes struct{ driver.Looper }

func (d gpuTypes) Limits() driver.Limits {
	l := d.Looper.Limits()
	l.Types = shader.DTypes
	return l
}

// TestChecks runs all checks on a CPU that must give the same bits.
func TestChecks(t *testing.T) {
	d := tensor.NewDevice(gpuTypes{cpu.New(cpu.Options{Threads: 1}).(driver.Looper)})
	defer d.Close()
	names := map[string]bool{}
	common := len(checksOf(d))
	if want := len(checks) + len(shader.DTypes); common != want {
		t.Errorf("%d checks for a device without wide types, want %d", common, want)
	}
	all := oneCore(t)
	for i, c := range checksOf(all) {
		d := d
		if i >= common {
			d = all
		}
		if names[c.name] {
			t.Errorf("two checks are called %q", c.name)
		}
		names[c.name] = true
		if testing.Short() && i%3 != 0 {
			continue
		}
		r := runCheck(c, d)
		if r.err != nil || r.worst != 0 || r.first <= 0 || r.again <= 0 || r.cpu <= 0 {
			t.Errorf("%s: %+v, want equal results", c.name, r)
		}
	}
}

// oneCore returns a CPU device of its own.
func oneCore(t *testing.T) *tensor.Device {
	d := tensor.NewDevice(cpu.New(cpu.Options{Threads: 1}))
	t.Cleanup(func() { d.Close() })
	return d
}

// elsewhere returns checks that fail on every device except tensor.CPU.
func elsewhere() []check {
	differ := func(name string, gradients bool, here, there func(T) T) check {
		return check{name, []input{given(1, 2, 3)}, one(func(x []T) T {
			if x[0].Device() == tensor.CPU() {
				return here(x[0])
			}
			return there(x[0])
		}), gradients}
	}
	itself := func(x T) T { return x }
	outside := func(x T) T { return x.Take(1, tensor.New([]int32{9})) }
	return []check{
		differ("good", true, T.Exp, T.Exp),
		differ("wrong", false, itself, T.Neg),
		differ("wrong gradient", true, itself, T.Round),
		differ("shape", false, itself, sumAll),
		differ("misuse", false, itself, func(x T) T { return x.MatMul(x) }),
		differ("failure", false, itself, outside),
		differ("failure of the CPU", false, outside, itself),
	}
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	failed, err := report(t.Context(), &b, elsewhere(), oneCore(t))
	if failed != 6 || err != nil {
		t.Errorf("report counts %d failures, %v, want 6", failed, err)
	}
	got := regexp.MustCompile(`(?m) +[^ \n]+ +[0-9.]+ [µm]?s +[0-9.]+ [µm]?s +[0-9.]+ [µm]?s$`).ReplaceAllString(b.String(), "")
	got = regexp.MustCompile(`[a-z_]+\.go:[0-9]+: `).ReplaceAllString(got, "")
	want := `check                                         off      first      again        cpu
good                                 ok
wrong                                FAIL
    element 0 of result 1 [1 3] is -1, want 1
wrong gradient                       FAIL
    element 0 of gradient 1 [1 3] is 0, want 1
shape                                FAIL
    result 1 is float32 [], want float32 [1 3]
misuse                               FAIL
    MatMul of [1 3] and [1 3]: the inner lengths 3 and 1 differ: transpose with T or Reshape
failure                              FAIL
    Take: index 9 at [0] is out of range for an axis of length 3
failure of the CPU                   FAIL
    on the CPU: Take: index 9 at [0] is out of range for an axis of length 3
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := report(ctx, &b, elsewhere(), oneCore(t)); err == nil {
		t.Error("report when cancelled: no error")
	}
}

func TestCompare(t *testing.T) {
	f := func(dtype tensor.DType, data ...float64) array { return array{"x", dtype, []int{len(data)}, data} }
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want array
		same      bool
	}{
		{f(tensor.Float32, 1, nan, inf), f(tensor.Float32, 1, nan, inf), true},
		{f(tensor.Float32, 1.00005), f(tensor.Float32, 1), true},
		{f(tensor.Float32, 1.0002), f(tensor.Float32, 1), false},
		{f(tensor.Float32, 1e-4, 100), f(tensor.Float32, 0, 100), true}, // small relative to the largest
		{f(tensor.Float32, 1e-4, inf), f(tensor.Float32, 0, inf), false},
		{f(tensor.Float32, nan), f(tensor.Float32, 1), false},
		{f(tensor.Float32, 1), f(tensor.Float32, nan), false},
		{f(tensor.Float32, inf), f(tensor.Float32, -inf), false},
		{f(tensor.Float32, 3e38), f(tensor.Float32, inf), false},
		{f(tensor.Float32, 1e-9), f(tensor.Float32, 0), false},
		{f(tensor.Int32, 100000), f(tensor.Int32, 100001), false},
		{f(tensor.Float16, 1.0009), f(tensor.Float16, 1), true},
		{f(tensor.BFloat16, 1.007), f(tensor.BFloat16, 1), true},
		{f(tensor.Float16, 1), f(tensor.Float32, 1), false},
		{f(tensor.Float32, 1, 2), f(tensor.Float32, 1), false},
	} {
		worst, err := compare(c.got, c.want)
		if same := err == nil; same != c.same || same && worst > 1 {
			t.Errorf("compare(%v, %v) = %v, %v, want the same: %v", c.got.data, c.want.data, worst, err, c.same)
		}
	}
}

func TestGPUCheckCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("half a second")
	}
	status, stdout, stderr := command("gpu", "check", "--device", "cpu")
	if status != 0 || !strings.Contains(stdout, "\n"+"device      cpu\n") || !strings.HasSuffix(stdout, " checks passed\n") {
		t.Errorf("gpu check: status %d, %s, printed\n%s", status, stderr, stdout)
	}
	status, _, stderr = command("gpu", "check", "--device", "abacus")
	if status != 1 || !strings.Contains(stderr, "abacus") {
		t.Errorf("gpu check --device abacus: status %d, %s", status, stderr)
	}
}

// TestGPUCommand lists adapters, or expects the reason for finding none.
func TestGPUCommand(t *testing.T) {
	_, adapters, err := findAdapters()
	status, stdout, stderr := command("gpu")
	if err != nil {
		if status != 1 || !strings.Contains(stderr, err.Error()) {
			t.Errorf("gpu: status %d, %s, want %v", status, stderr, err)
		}
		if errors.Is(err, wgpu.ErrNoLibrary) && !strings.Contains(stderr, "tensorken gpu install") {
			t.Errorf("gpu without a library says %s", stderr)
		}
		return
	}
	if status != 0 || strings.Count(stdout, "\nwebgpu:") != len(adapters) {
		t.Errorf("gpu: status %d, %s, printed\n%s\nwant %d adapters", status, stderr, stdout, len(adapters))
	}
}

// The device named by the environment must open; no other device replaces it.
func TestDeviceVariable(t *testing.T) {
	t.Setenv("TENSORKEN_DEVICE", "abacus")
	want := `tensorken: TENSORKEN_DEVICE is "abacus": there is no such device: use "cpu", "cuda", "webgpu", or one GPU as "cuda:0", "webgpu:0" or "webgpu:NAME"` + "\n"
	for _, args := range [][]string{
		{"train", "--out", filepath.Join(t.TempDir(), "digits.safetensors")},
		{"bench"},
		{"gpu", "check"},
	} {
		if status, _, stderr := command(args...); status != 1 || stderr != want {
			t.Errorf("%v: status %d, standard error %q, want 1, %q", args, status, stderr, want)
		}
	}
}

// If no library is found, every command says so once, and names the command to run.
func TestNoLibrary(t *testing.T) {
	t.Setenv("TENSORKEN_DEVICE", "")
	t.Setenv(wgpu.Variable, filepath.Join(t.TempDir(), "none"))
	want := "no WebGPU library: TENSORKEN_WEBGPU_LIB is " + os.Getenv(wgpu.Variable) + ": no such file. Unset it to use what `tensorken gpu install` fetches"
	for _, args := range [][]string{
		{"train", "--device", "webgpu", "--out", filepath.Join(t.TempDir(), "digits.safetensors")},
		{"bench", "--device", "webgpu"},
		{"gpu"},
		{"gpu", "check"},
	} {
		status, _, stderr := command(args...)
		if status != 1 || !strings.HasSuffix(stderr, want+"\n") || strings.Contains(stderr, "webgpu: ") {
			t.Errorf("%v: status %d, standard error %q, want 1, …%q", args, status, stderr, want)
		}
	}
}
