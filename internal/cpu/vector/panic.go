package vector

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/mapped"
)

// RecoverTo turns a panic into an error.
func RecoverTo(err *error) {
	r := recover()
	if cut := mapped.Fault(r); cut != nil {
		*err = cut
	} else if e, ok := r.(error); ok && errors.Is(e, driver.ErrMemory) {
		*err = e
	} else if r != nil {
		*err = &panicError{r, debug.Stack()}
	}
}

// A panicError is the failure of a kernel. Its text is one line, for a log; the stack, with paths
// of the machine that built the program, is for a debugger.
type panicError struct {
	value any
	Stack []byte
}

func (e *panicError) Error() string {
	return "cpu: kernel failed: " + strings.Join(strings.Fields(fmt.Sprint(e.value)), " ")
}
