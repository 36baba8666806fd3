//go:build !(linux || darwin || windows)

package terminal

import (
	"errors"
	"os"
)

// Raw fails: lines are edited by the system.
func Raw(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
