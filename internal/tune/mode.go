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

// A Mode says which choices a GPU takes.
type Mode uint8

// The modes.
const (
	Off    Mode = iota // the choices of internal/schedule
	Kept               // those that were kept
	Search             // the kept choices and, for other products, searched ones
)

// ModeOf returns the mode of a GPU for which a program may ask for a search. The environment
// variable, if set, decides.
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

// A Machine is a GPU on which programs are timed. If it is a driver.Profiler its clock is used.
type Machine interface {
	driver.Device
	// Build starts to compile a kernel's program.
	Build(k *ir.Kernel, p *shader.Program) (driver.Program, error)
	// Isolate waits for all work and calls f. The device reports failures of f's work to f only.
	Isolate(f func() error) error
}
