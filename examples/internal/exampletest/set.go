package exampletest

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
)

// SetFlags gives flags of the program values until the end of the test.
func SetFlags(t *testing.T, values map[string]string) {
	t.Helper()
	for name, value := range values {
		f := flag.Lookup(name)
		if f == nil {
			t.Fatalf("the program has no flag -%s", name)
		}
		before := f.Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { flag.Set(name, before) })
	}
}

// OpenDevice makes the device that TENSORKEN_DEVICE names the default until the end of the
// test, and returns it.
func OpenDevice(t *testing.T) *tensor.Device {
	t.Helper()
	d, _, err := device.Open("")
	if err != nil {
		t.Fatal(err)
	}
	tensor.SetDefault(d)
	t.Cleanup(func() {
		tensor.SetDefault(nil)
		d.Close()
	})
	return d
}
