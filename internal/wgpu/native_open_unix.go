//go:build (linux || darwin) && (amd64 || arm64)

package wgpu

import "github.com/ebitengine/purego"

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbol returns the address of a function, 0 if there is none.
func symbol(handle uintptr, name string) uintptr {
	p, _ := purego.Dlsym(handle, name)
	return p
}
