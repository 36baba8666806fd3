//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"debug/elf"
	"os"
)

// errCutShort is of a file that ends too early.
var errCutShort = &unusable{"it is not a whole library"}

// whole checks that nothing is missing at the end of an ELF library: the system
// would load it, and kill the process with SIGBUS at what is missing. A file
// that is not there, or of another format, is left to the system.
func whole(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); string(magic[:n]) != elf.ELFMAG {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return errCutShort
	}
	for _, p := range e.Progs {
		if size := uint64(info.Size()); p.Filesz > size || p.Off > size-p.Filesz {
			return errCutShort
		}
	}
	return nil
}
