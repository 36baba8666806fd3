//go:build !((linux || windows) && (amd64 || arm64))

package cuda

import (
	"errors"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/tune"
)

// A GPU is one that the driver lists.
type GPU struct {
	Index              int
	Name               string
	Memory             int64
	Capability, Driver int
}

// Options are the options of the package cuda that users import.
type Options struct {
	Memory int64
	TF32   bool
	Graphs bool
	Tune   tune.Mode
}

// ErrNoDriver says that this machine has no driver of NVIDIA.
var ErrNoDriver = errors.New("cuda: NVIDIA has no driver for this platform: use webgpu or the CPU")

// List fails.
func List() ([]GPU, error) { return nil, ErrNoDriver }

// Open fails.
func Open(GPU, Options) (driver.Device, error) { return nil, ErrNoDriver }
