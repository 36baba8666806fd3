//go:build !js && !((linux || darwin || windows) && (amd64 || arm64))

package wgpu

import "runtime"

// Load fails: this system has no native library.
func Load(path string) (Library, error) {
	return nil, noPrebuilt(runtime.GOOS + "/" + runtime.GOARCH)
}
