// Package device opens devices by name, for a program's flag or the
// environment variable TENSORKEN_DEVICE.
//
// So far there is one, "cpu". GPUs, which will be reached through WebGPU, will
// be named "webgpu", "webgpu:1" and so on.
package device

import (
	"fmt"
	"os"
	"strings"

	"github.com/tensorken/tensorken/tensor"
)

// variable is the environment variable that names a device where a program
// does not.
const variable = "TENSORKEN_DEVICE"

// Open opens the device of that name. An empty name is that of the environment
// variable TENSORKEN_DEVICE or, if that is empty too, the best hardware there
// is. Then why says how the device was chosen and what was passed over.
func Open(name string) (d *tensor.Device, why string, err error) {
	source := ""
	if name == "" {
		name = os.Getenv(variable)
		if name == "" {
			return tensor.CPU(), "the CPU: this version does not use GPUs yet", nil
		}
		source = variable + " is "
		why = source + fmt.Sprintf("%q", name)
	}
	kind, _, _ := strings.Cut(name, ":")
	switch {
	case name == "cpu":
		return tensor.CPU(), why, nil
	case kind == "webgpu":
		return nil, "", fmt.Errorf(`device: %s%q: GPUs will come with a later version: use "cpu"`, source, name)
	}
	return nil, "", fmt.Errorf(`device: %s%q: there is no such device: use "cpu" (GPUs will come as "webgpu")`, source, name)
}
