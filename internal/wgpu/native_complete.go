//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"debug/elf"
	"os"
)

// errCutShort is the error of a truncated file.
var errCutShort = &unusable{"it is not a whole library"}

// checkComplete checks that an ELF library is not truncated: the system would load it, and
// kill the process with SIGBUS at an access to the missing part. It accepts files that do
// not exist or have another format.
func checkComplete(path string) error {
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
