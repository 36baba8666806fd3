package exampletest

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestSetFlags(t *testing.T) {
	x := flag.Int("x", 1, "")
	t.Run("set", func(t *testing.T) {
		SetFlags(t, map[string]string{"x": "2"})
		SetFlags(t, map[string]string{"x": "3"})
		if *x != 3 {
			t.Errorf("x = %d, want 3", *x)
		}
	})
	if *x != 1 {
		t.Errorf("after the test x = %d, want 1", *x)
	}
}

func TestOpenDevice(t *testing.T) {
	var d *tensor.Device
	t.Run("open", func(t *testing.T) {
		if d = OpenDevice(t); tensor.Default() != d {
			t.Errorf("the default device is %v, want %v", tensor.Default(), d)
		}
	})
	if tensor.Default() != tensor.CPU() {
		t.Errorf("after the test the default device is %v", tensor.Default())
	}
}
