//go:build !unix

package mapped

import (
	"errors"
	"os"
)

// mapFile fails: js has no mapping, and Windows refuses to replace or to remove a file that is mapped.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) {}
