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
	m, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer syscall.CloseHandle(m)
	address, err := syscall.MapViewOfFile(m, syscall.FILE_MAP_READ, 0, 0, 0)
	return func() { syscall.UnmapViewOfFile(address) }, err
}
