package device_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/device"
)

func TestOpen(t *testing.T) {
	for _, tt := range []struct{ name, env, want string }{
		{"cpu", "", "cpu <nil>"},
		{"cpu", "webgpu", "cpu <nil>"},
		{"", "", "cpu the CPU: this version does not use GPUs yet <nil>"},
		{"", "cpu", `cpu TENSORKEN_DEVICE is "cpu" <nil>`},
		{"webgpu:1", "", `<nil> device: "webgpu:1": GPUs will come with a later version: use "cpu"`},
		{"", "webgpu", `<nil> device: TENSORKEN_DEVICE is "webgpu": GPUs will come with a later version: use "cpu"`},
		{"cuda", "cpu", `<nil> device: "cuda": there is no such device: use "cpu" (GPUs will come as "webgpu")`},
		{"cpu:1", "", `<nil> device: "cpu:1": there is no such device: use "cpu" (GPUs will come as "webgpu")`},
	} {
		t.Setenv("TENSORKEN_DEVICE", tt.env)
		d, why, err := device.Open(tt.name)
		got := "<nil>"
		if d != nil {
			got = d.String()
		}
		if why != "" {
			got += " " + why
		}
		if got = fmt.Sprint(got, " ", err); got != tt.want {
			t.Errorf("Open(%q) with TENSORKEN_DEVICE=%q = %s, want %s", tt.name, tt.env, got, tt.want)
		}
	}
}

func ExampleOpen() {
	d, _, err := device.Open("cpu")
	fmt.Println(d, err)
	// Output: cpu <nil>
}
