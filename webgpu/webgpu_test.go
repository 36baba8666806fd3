package webgpu

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/tensor"
)

func TestChoose(t *testing.T) {
	big, small, soft := wgputest.FakeAdapter("NVIDIA H200", wgpu.Discrete), wgputest.FakeAdapter("Intel UHD", wgpu.Integrated), wgputest.FakeAdapter("llvmpipe", wgpu.Software)
	for _, c := range []struct {
		list []wgpu.Adapter
		o    Options
		want int
		err  string
	}{
		{[]wgpu.Adapter{big, small, soft}, Options{}, 0, ""},
		{[]wgpu.Adapter{big, small, soft}, Options{LowPower: true}, 1, ""},
		{[]wgpu.Adapter{big, soft}, Options{LowPower: true, Software: true}, 0, ""},
		{[]wgpu.Adapter{soft, small}, Options{Software: true}, 1, ""},
		{[]wgpu.Adapter{soft}, Options{Software: true}, 0, ""},
		{[]wgpu.Adapter{big, small, soft}, Options{Adapter: "1"}, 1, ""},
		{[]wgpu.Adapter{big, small, soft}, Options{Adapter: "intel"}, 1, ""},
		{[]wgpu.Adapter{big, small, soft}, Options{Adapter: "LLVM"}, 2, ""},
		{[]wgpu.Adapter{soft}, Options{}, 0, "no WebGPU adapter except in software, which must be requested: 0 is llvmpipe (software); if there is a GPU, its driver is missing"},
		{[]wgpu.Adapter{big}, Options{Adapter: "2"}, 0, "no WebGPU adapter \"2\": 0 is NVIDIA H200 (discrete)"},
		{[]wgpu.Adapter{big}, Options{Adapter: "-1"}, 0, "no WebGPU adapter \"-1\""},
		{[]wgpu.Adapter{small, big}, Options{Adapter: "200"}, 1, ""},
		{[]wgpu.Adapter{big, small}, Options{Adapter: "amd"}, 0, `no WebGPU adapter "amd": 0 is NVIDIA H200 (discrete), 1 is Intel UHD (integrated)`},
	} {
		got, err := choose(c.list, &c.o)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("choose(%s; %+v) = %d, %v, want %d", listed(c.list), c.o, got, err, c.want)
		case c.err != "" && (!errors.Is(err, wgpu.ErrNoAdapter) || !strings.Contains(err.Error(), c.err)):
			t.Errorf("choose(%s; %+v): got error %v, want %q", listed(c.list), c.o, err, c.err)
		}
	}
}

func TestOpenNoLibrary(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no library is searched for")
	}
	path := filepath.FromSlash("no/such/library")
	_, err := Open(&Options{Library: path})
	if err == nil || !strings.Contains(err.Error(), path+": no such file") || !strings.Contains(err.Error(), "tensorken gpu install") {
		t.Errorf("Open of a library that does not exist: got error %v, want one that says what to do", err)
	}
}

// A bad environment variable is an error.
func TestOpenBadVariable(t *testing.T) {
	t.Setenv("TENSORKEN_TUNE", "yes")
	if _, err := Open(nil); err == nil || !strings.HasPrefix(err.Error(), `TENSORKEN_TUNE is "yes": want 1, `) {
		t.Errorf("Open: got error %v, want one that says what to set", err)
	}
}

// TestOpen computes on an adapter of this machine.
func TestOpen(t *testing.T) {
	dev, err := Open(&Options{Software: true, Validate: true})
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip("no GPU: ", err)
	}
	defer dev.Close()
	list, err := Adapters()
	if err != nil || len(list) == 0 {
		t.Fatalf("Adapters() = %v, %v after Open gave %v", list, err, dev)
	}
	if !strings.HasPrefix(dev.String(), "webgpu (") {
		t.Errorf("the device is called %q", dev)
	}
	x := tensor.New([]float32{1, 2, 3, 4}, 2, 2).To(dev)
	if got, want := x.MatMul(x).Add(1).String(), "[[ 8 11]\n [16 23]]"; got != want {
		t.Errorf("computed on %v:\n%s\nwant\n%s", dev, got, want)
	}
	if _, err := tensor.Data[float64](x.Cast(tensor.Float64)); err == nil || !strings.Contains(err.Error(), "float64") {
		t.Errorf("float64 on %v: got error %v, want one that names the type", dev, err)
	}
}

func TestOpenOptions(t *testing.T) {
	const want = "webgpu: Options.Memory is -1: want a number of bytes, or 0 for no limit"
	if _, err := Open(&Options{Memory: -1}); err == nil || err.Error() != want {
		t.Errorf("Open with Memory -1: %v, want %s", err, want)
	}
}
