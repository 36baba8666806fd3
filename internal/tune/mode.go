package tune

import (
	"fmt"
	"os"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Variable is the environment variable that selects the mode of GPUs: 1 or 0, for Search or Off.
const Variable = "TENSORKEN_TUNE"

// A Mode says where a GPU takes its choices of tiles from.
type Mode uint8

// The modes.
const (
	Off    Mode = iota // from internal/schedule
	Kept               // from earlier searches, else from internal/schedule
	Search             // from earlier searches, else from a search now
)

// ModeOf returns the mode of a GPU. search says whether the program asks for a search; the
// environment variable, if set, decides.
func ModeOf(search bool) (Mode, error) {
	text := os.Getenv(Variable)
	switch {
	case text != "" && text != "0" && text != "1":
		return Off, fmt.Errorf("%s is %q: want 1, to search for the fastest tiles of large products, or 0, to ignore those that were found", Variable, text)
	case text == "0":
		return Off, nil
	case search || text == "1":
		return Search, nil
	}
	return Kept, nil
}

// A Machine is a GPU that times programs, by its own clock if it is a driver.Profiler.
type Machine interface {
	driver.Device
	// Build starts to compile a kernel's program.
	Build(k *ir.Kernel, p *shader.Program) (driver.Program, error)
	// Isolate waits for all work and calls f. Only f learns of failures of the work that it submits.
	Isolate(f func() error) error
}
