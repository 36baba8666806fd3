//go:build !((linux || darwin || windows) && (amd64 || arm64))

package wgpu

import (
	"fmt"
	"runtime"
)

// Load fails: this system has no native library.
func Load(path string) (Library, error) {
	if runtime.GOOS == "js" {
		return nil, fmt.Errorf("%w: in a browser this version runs on the CPU alone; GPUs there will come with a later one", ErrNoLibrary)
	}
	return nil, noPrebuilt(runtime.GOOS + "/" + runtime.GOARCH)
}
