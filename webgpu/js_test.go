//go:build js

package webgpu

import (
	"os"
	"strings"
	"syscall/js"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// The page keeps each device that is opened, so that a test can destroy it.
const keepDevices = `
	const request = GPUAdapter.prototype.requestDevice;
	GPUAdapter.prototype.requestDevice = async function (o) { return globalThis.newestDevice = await request.call(this, o); };
	return () => { GPUAdapter.prototype.requestDevice = request; };`

// The next read after the loss of a device says that it is lost, and a device opened after
// that computes.
func TestLost(t *testing.T) {
	if js.Global().Get("GPUAdapter").Truthy() {
		defer js.Global().Get("Function").New(keepDevices).Invoke().Invoke()
	}
	open := func() *tensor.Device {
		d, err := Open(&Options{Software: true})
		if err != nil {
			if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
				t.Fatal(err)
			}
			t.Skip("no GPU: ", err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	d := open()
	x := tensor.New([]float32{1, 2, 3}).To(d)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	js.Global().Get("newestDevice").Call("destroy")
	y := x.Add(1).Sum()
	for range 2 {
		if _, err := tensor.Data[float32](y); err == nil || !strings.Contains(err.Error(), "device lost") {
			t.Errorf("a read after the device was destroyed: got error %v, want that it is lost", err)
		}
	}
	if got := tensor.New([]float32{1, 2, 3}).To(open()).Add(1).Sum().Item(); got != 9 {
		t.Errorf("computed %v on a device opened after the loss, want 9", got)
	}
}
