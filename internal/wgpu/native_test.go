//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/tensorken/tensorken/internal/dynlib"
)

// native opens the first adapter of this machine, or skips the test.
func native(t testing.TB, o Options) *device { return nativeAsync(t, o).dev }

// nativeAsync is native with the async that Open returns.
func nativeAsync(t testing.TB, o Options) *async {
	t.Helper()
	lib, err := Load("")
	var d Device
	if err == nil {
		d, err = lib.Open(func(list []Adapter) (int, error) {
			if len(list) == 0 {
				return 0, ErrNoAdapter
			}
			return 0, nil
		}, o)
	}
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip("no GPU: ", err)
	}
	t.Cleanup(d.Close)
	return d.(*async)
}

// Structures have the sizes of the library's header.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"WGPUStringView", unsafe.Sizeof(stringView{}), 16},
		{"WGPUChainedStruct", unsafe.Sizeof(chained{}), 16},
		{"WGPUDawnTogglesDescriptor", unsafe.Sizeof(togglesDescriptor{}), 48},
		{"WGPUInstanceDescriptor", unsafe.Sizeof(instanceDescriptor{}), 32},
		{"WGPUBufferMapCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40},
		{"WGPURequestAdapterOptions", unsafe.Sizeof(adapterOptions{}), 32},
		{"WGPUAdapterInfo", unsafe.Offsetof(adapterInfo{}.subgroupMax) + 4, 8 * adapterInfoWords},
		{"WGPULimits up to maxComputeWorkgroupsPerDimension", unsafe.Offsetof(limits{}.workgroups) + 4, 148},
		{"WGPUDeviceDescriptor", unsafe.Sizeof(deviceDescriptor{}), 144},
		{"WGPUBufferDescriptor", unsafe.Sizeof(bufferDescriptor{}), 48},
		{"WGPUBindGroupLayoutEntry", unsafe.Sizeof(bindingLayout{}), 120},
		{"WGPUPipelineLayoutDescriptor", unsafe.Sizeof(pipelineLayoutDescriptor{}), 48},
		{"WGPUComputePipelineDescriptor", unsafe.Sizeof(pipelineDescriptor{}), 80},
		{"WGPUBindGroupEntry", unsafe.Sizeof(groupEntry{}), 56},
	} {
		if c.got != c.want {
			t.Errorf("%s takes %d bytes, want %d", c.name, c.got, c.want)
		}
	}
}

// The adapter tells its memory, and featureHeaps is the number that the library means: the next one
// is Direct3D's, as the error of an adapter of Vulkan says.
func TestMemoryHeaps(t *testing.T) {
	a := native(t, Options{}).Adapter()
	if a.Backend != "Vulkan" {
		t.Skip("no Vulkan but " + a.Backend)
	}
	if a.Memory == 0 {
		t.Errorf("the memory of %s is unknown", a.Name)
	}
	lib, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	n, err := lib.(*library).newInstance(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	list, err := n.find()
	if err != nil {
		t.Fatal(err)
	}
	defer release(n, list)
	const direct3D = "direct3d"
	features[featureHeaps+1] = direct3D
	defer delete(features, featureHeaps+1)
	list[0].Features = []string{direct3D}
	if _, err := n.newDevice(&list[0], Options{}); err == nil || !strings.Contains(err.Error(), "AdapterPropertiesD3D") {
		t.Errorf("a device with the feature after featureHeaps: %v", err)
	}
}

// Structures are passed by value by each system's calling convention.
func TestPassed(t *testing.T) {
	words := [5]uintptr{11, 12, 13, 14, 15}
	p := unsafe.Pointer(&words)
	for _, c := range []struct {
		system string
		args   []uintptr
		words  int
		want   []uintptr
	}{
		{"linux/amd64", []uintptr{1}, 2, []uintptr{1, 11, 12}},
		{"linux/amd64", []uintptr{1, 2}, 5, []uintptr{1, 2, 0, 0, 0, 0, 11, 12, 13, 14, 15}},
		{"darwin/amd64", []uintptr{1, 2, 3, 4}, 5, []uintptr{1, 2, 3, 4, 0, 0, 11, 12, 13, 14, 15}},
		{"linux/arm64", []uintptr{1}, 2, []uintptr{1, 11, 12}},
		{"darwin/arm64", []uintptr{1, 2}, 5, []uintptr{1, 2, uintptr(p)}},
		{"windows/arm64", nil, 2, []uintptr{11, 12}},
		{"windows/amd64", []uintptr{1}, 1, []uintptr{1, 11}},
		{"windows/amd64", []uintptr{1}, 2, []uintptr{1, uintptr(p)}},
		{"windows/amd64", []uintptr{1, 2}, 5, []uintptr{1, 2, uintptr(p)}},
	} {
		goos, goarch, _ := strings.Cut(c.system, "/")
		if got := passByValue(goos, goarch, c.args, p, c.words); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d words after %v are passed as %v, want %v", c.system, c.words, c.args, got, c.want)
		}
	}
}

// wait does not time out while a device makes progress, however long that takes in all.
func TestWait(t *testing.T) {
	const steps, timeout = 20, 10 * time.Second // by a clock that advances a second whenever it is read
	for _, answers := range []int{steps, 2} {
		var clock time.Time
		n := &instance{library: &library{}, timeout: timeout, box: new(mailbox), pending: map[uintptr]func(*event){}, report: func(*event) {}}
		n.now = func() time.Time { clock = clock.Add(time.Second); return clock }
		polls, came := 0, 0
		n.InstanceProcessEvents = purego.NewCallback(func(uintptr) uintptr {
			if polls++; came < answers && polls%5 == 0 {
				came++
				n.box.push(&event{id: firstRequest + uintptr(came)})
			}
			return 0
		})
		var done bool
		n.pending[firstRequest+steps] = func(*event) { done = true }
		err := n.wait("Wait", func() bool { return done })
		var e *Error
		if lost := errors.As(err, &e) && e.Kind == Timeout; done != (answers == steps) || lost == done {
			t.Errorf("after %d of %d answers, wait of at most %v without any: got done=%v, error %v", answers, steps, timeout, done, err)
		}
	}
}

// The error of opening too many devices names a remedy.
func TestTooMany(t *testing.T) {
	for {
		_, number, err := newMailbox()
		if err != nil {
			if !strings.Contains(err.Error(), "Close") {
				t.Errorf("newMailbox where all are taken: got error %v, want one that says what to do", err)
			}
			return
		}
		defer freeMailbox(number)
	}
}

// lose makes the library drop a device.
func (d *device) lose(t *testing.T, why string) {
	t.Helper()
	handle, err := dynlib.Open(d.path)
	if err != nil {
		t.Fatal(err)
	}
	const unknown = 1
	var buf [8]uintptr
	message := viewOf(why)
	args := byValue(append(buf[:0], d.device, unknown), unsafe.Pointer(&message), 2)
	dynlib.Call(dynlib.Symbol(handle, "wgpuDeviceForceLoss"), args...)
}

func TestLost(t *testing.T) {
	d, other := native(t, Options{Timeout: 10 * time.Second}), native(t, Options{})
	b, err := d.NewBuffer(stagingSize, Storage)
	if err != nil {
		t.Fatal(err)
	}
	d.staged = true
	d.Write(b, 0, make([]byte, stagingSize))
	d.lose(t, "on purpose")
	first := d.Poll()
	var e *Error
	if !errors.As(first, &e) || e.Kind != Lost || !strings.Contains(e.Message, "on purpose") {
		t.Fatalf("Poll of a lost device: got error %v", first)
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"NewBuffer", func() error { _, err := d.NewBuffer(64, Storage); return err }},
		{"Submit", func() error { _, err := d.Submit(nil); return err }},
		{"Wait", func() error { return d.Wait(1) }},
		{"Map", func() error { return d.Map(b, 4) }},
		{"NewLayout", func() error { _, err := d.NewLayout([]bool{true}, 0); return err }},
		{"Poll", d.Poll},
	} {
		if err := c.f(); err != first {
			t.Errorf("%s of a lost device: got error %v, want the same as the first, %v", c.name, err, first)
		}
	}
	d.Write(b, 0, make([]byte, 4))
	d.Write(b, 0, make([]byte, stagingSize))
	d.FreeBuffer(b)
	if b, err = other.NewBuffer(64, Storage); err != nil {
		t.Errorf("another device: %v", err)
	}
	other.FreeBuffer(b)
}

// Devices of several goroutines do not disturb each other.
func TestDevicesAtOnce(t *testing.T) {
	native(t, Options{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			d := native(t, Options{Timeout: time.Minute})
			for range 20 {
				b, err := d.NewBuffer(1<<16, Storage)
				if err != nil {
					t.Error(err)
					return
				}
				d.Write(b, 0, make([]byte, 1<<16))
				n, err := d.Submit(nil)
				if err == nil {
					err = d.Wait(n)
				}
				if err != nil {
					t.Error(err)
				}
				d.FreeBuffer(b)
			}
		})
	}
	group.Wait()
}

// A truncated library is an error, and not loaded.
func TestLoadCutShort(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), "\x7fELF") {
		t.Skip("programs of this system are not ELF files")
	}
	if err := checkComplete(exe); err != nil {
		t.Errorf("whole(%s) = %v", exe, err)
	}
	name := filepath.Join(t.TempDir(), "short.so")
	for _, size := range []int{5, 63, 64, 100, len(data) / 3, len(data) / 2} {
		if err := os.WriteFile(name, data[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(name); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), name+": it is not a whole library. ") {
			t.Errorf("Load of %d bytes of %d: got error %v, want that it is not whole", size, len(data), err)
		}
	}
}

func TestLoadOther(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(exe); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), exe) {
		t.Errorf("Load of what is no library: got error %v, want one that names it", err)
	}
	name := filepath.Join(t.TempDir(), "foreign.so")
	if err := os.WriteFile(name, elfHeader(elf.EM_S390), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(name); err == nil || !strings.Contains(err.Error(), name+": it is for ") {
		t.Errorf("Load of another machine's library: got error %v, want that it is one", err)
	}
}
