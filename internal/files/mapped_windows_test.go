package files_test

import (
	"os"

	"golang.org/x/sys/windows"
)

// mapped maps a file, which it closes.
func mapped(path string) (func(), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(m)
	address, err := windows.MapViewOfFile(m, windows.FILE_MAP_READ, 0, 0, 0)
	return func() { windows.UnmapViewOfFile(address) }, err
}
