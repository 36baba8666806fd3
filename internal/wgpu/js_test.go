//go:build js

package wgpu

import (
	"errors"
	"os"
	"strings"
	"syscall/js"
	"testing"
	"time"
)

// openFirst opens the first adapter, or skips the test.
func openFirst(t testing.TB) *device {
	t.Helper()
	lib, err := Load("")
	var d Device
	if err == nil {
		d, err = lib.Open(func([]Adapter) (int, error) { return 0, nil }, Options{Timeout: time.Minute})
	}
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip("no GPU: ", err)
	}
	t.Cleanup(d.Close)
	return d.(*device)
}

// A page that forbids to evaluate text gets an error, and keeps no GPUDevice.
func TestNoEvaluation(t *testing.T) {
	global := js.Global()
	was := global.Get("Function")
	defer global.Set("Function", was)
	gpu := was.New("return { lost: new Promise(() => {}), destroy() { this.destroyed = true; } }").Invoke()
	refuse := was.New("return function () { throw new EvalError('refused by the policy'); }").Invoke()
	global.Set("Function", refuse)
	d, err := newDevice(Adapter{}, gpu, Options{})
	if d != nil || err == nil || !strings.Contains(err.Error(), "refused by the policy") {
		t.Errorf("got %v and %v, want the reason", d, err)
	}
	if !gpu.Get("destroyed").Truthy() {
		t.Error("the GPUDevice is not destroyed")
	}
}

// Where there is no WebGPU, the error says so and names a remedy.
func TestNoGPU(t *testing.T) {
	object, global := js.Global().Get("Object"), js.Global()
	was := object.Call("getOwnPropertyDescriptor", global, "navigator")
	defer func() {
		if was.IsUndefined() {
			global.Delete("navigator")
		} else {
			object.Call("defineProperty", global, "navigator", was)
		}
	}()
	want := "this browser has no WebGPU"
	if underNode() {
		want = "npm's webgpu"
	}
	for _, navigator := range []any{js.Undefined(), map[string]any{}} {
		object.Call("defineProperty", global, "navigator", map[string]any{"value": navigator, "configurable": true})
		_, err := Load("")
		if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), want) {
			t.Errorf("Load where navigator is %v: got error %v, want %q", navigator, err, want)
		}
	}
	gpu := map[string]any{"requestAdapter": js.Global().Get("Function").New("return Promise.resolve(null)")}
	object.Call("defineProperty", global, "navigator", map[string]any{"value": map[string]any{"gpu": gpu}, "configurable": true})
	lib, err := Load("")
	if err == nil {
		_, err = lib.Adapters()
	}
	if !errors.Is(err, ErrNoAdapter) {
		t.Errorf("Adapters where the browser has none: got error %v, want %v", err, ErrNoAdapter)
	}
	if _, err := Load("some.so"); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), "some.so") {
		t.Errorf("Load of a path: got error %v, want one that names it", err)
	}
}

// After the loss of a device all calls return the same error, waits included, and another
// device can be opened.
func TestLost(t *testing.T) {
	for _, mapped := range []bool{false, true} {
		d := openFirst(t)
		b, err := d.NewBuffer(64, Readback)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Map(b, 64); err != nil {
			t.Fatal(err)
		}
		if mapped {
			if err := d.wait("Map", func() bool { return d.mappings[b].ready }); err != nil {
				t.Fatal(err)
			}
		}
		d.script.Get("device").Call("destroy")
		first := d.Read(b, make([]byte, 64))
		var e *Error
		if !errors.As(first, &e) || e.Kind != Lost {
			t.Errorf("Read of a device that was destroyed, mapped=%v: got error %v, want that it is lost", mapped, first)
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
			{"NewPipeline", func() error { _, err := d.NewPipeline("", 1); return err }},
			{"Poll", d.Poll},
		} {
			if err := c.f(); err != first {
				t.Errorf("%s of a lost device: got error %v, want the same as the first, %v", c.name, err, first)
			}
		}
		d.Write(b, 0, make([]byte, 4))
		d.FreeBuffer(b)
		if _, err := openFirst(t).NewBuffer(64, Storage); err != nil {
			t.Errorf("another device: %v", err)
		}
	}
}

// Errors that no method returns come from Poll, after a wait.
func TestUncaught(t *testing.T) {
	d := openFirst(t)
	b, err := d.NewBuffer(64, Times)
	if err != nil {
		t.Fatal(err)
	}
	d.Write(b, 0, make([]byte, 4)) // its usage forbids that
	n, err := d.Submit(nil)
	if err == nil {
		err = d.Wait(n)
	}
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := d.Poll(); !errors.As(err, &e) || e.Kind != Validation {
		t.Errorf("Poll after a write to a buffer for timestamps: got error %v, want a validation error", err)
	}
	if err := d.Poll(); err != nil {
		t.Errorf("second Poll: got error %v, want none", err)
	}
}

// A command that JavaScript throws at is an error and loses the device.
func TestThrown(t *testing.T) {
	d := openFirst(t)
	d.stream.put(setGroup, 1) // outside of a pass
	_, err := d.Submit(nil)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Lost || !strings.Contains(err.Error(), "TypeError") {
		t.Errorf("Submit after a command that throws: got error %v, want what was thrown", err)
	}
}

// A wait without any answer ends.
func TestTimeout(t *testing.T) {
	d := openFirst(t)
	d.timeout = time.Millisecond
	err := d.wait("Wait", func() bool { return false })
	var e *Error
	if !errors.As(err, &e) || e.Kind != Timeout || d.Poll() != err {
		t.Errorf("wait for what never comes: got error %v, want a timeout, which loses the device", err)
	}
}

// Objects that are freed give their handles back.
func TestHandles(t *testing.T) {
	d := openFirst(t)
	for range 10 {
		b, err := d.NewBuffer(64, Storage)
		if err != nil {
			t.Fatal(err)
		}
		d.FreeBuffer(b)
	}
	if d.lastHandle > 1 || len(d.pending) > 0 {
		t.Errorf("10 buffers one after the other: %d handles and %d requests, want 1 and 0", d.lastHandle, len(d.pending))
	}
}
