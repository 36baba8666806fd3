package wgpu

import (
	"errors"
	"fmt"
)

// Variable is the environment variable that names the library to load.
const Variable = "TENSORKEN_WEBGPU_LIB"

// Cache is the name of the folder of the user's installed library, for cachedir.Path. This package
// calls that only where there are libraries: a program for browsers has no use for cachedir.
const Cache = "webgpu"

// Prebuilt has the systems for which `tensorken gpu install` can fetch a library.
var Prebuilt = map[string]bool{"linux/amd64": true, "darwin/amd64": true, "darwin/arm64": true, "windows/amd64": true}

// ErrNoLibrary is the error of a search that finds no usable library.
var ErrNoLibrary = errors.New("no WebGPU library")

// drivers names remedies for a missing adapter, by system.
var drivers = map[string]string{
	"linux":   "the GPU's Vulkan driver and the Vulkan loader (package libvulkan1 or vulkan-loader)",
	"darwin":  "macOS, which brings the GPU's driver",
	"windows": "the GPU's driver",
	"js":      "the browser or the GPU's driver, or turn WebGPU on in the browser's settings",
}

// ErrNoAdapter is the error of a library that finds no suitable adapter.
var ErrNoAdapter = errors.New("no WebGPU adapter")

// noAdapter returns the error of an empty list of adapters, with the library's message and
// advice.
func noAdapter(goos, said string) error {
	if said != "" {
		said = " (" + said + ")"
	}
	return fmt.Errorf("%w%s: install or update %s", ErrNoAdapter, said, drivers[goos])
}
