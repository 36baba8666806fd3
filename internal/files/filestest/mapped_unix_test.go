//go:build unix

package filestest_test

import (
	"os"
	"syscall"
)

// mapped maps a file, which it closes.
func mapped(path string) (func(), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_SHARED)
	return func() { syscall.Munmap(b) }, err
}
