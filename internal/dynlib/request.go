//go:build (linux || darwin || windows) && (amd64 || arm64)

package dynlib

import (
	"fmt"
	"strings"
)

// A request is a library that the system is asked to load.
type request struct {
	path  string
	flags uintptr // of Windows' LoadLibraryEx
}

// Flags of Windows' LoadLibraryEx, which without any searches the current folder and the PATH.
const (
	searchLibraryFolder = 0x100  // the folder of the library, for those it needs
	searchSystem32      = 0x800  // Windows' own folder
	searchDefaultDirs   = 0x1000 // the program's folder, System32, and folders that the program added
)

// fileRequest returns the request for a library at a path.
func fileRequest(goos, path string) (request, error) {
	if !isAbs(goos, path) {
		return request{}, fmt.Errorf("%q is no absolute path of a library", path)
	}
	if goos == "windows" {
		path = strings.ReplaceAll(path, "/", `\`) // LoadLibraryEx knows no other
		if !strings.Contains(path[strings.LastIndexByte(path, '\\'):], ".") {
			path += "." // else LoadLibraryEx adds .dll
		}
	}
	return request{path, searchLibraryFolder | searchDefaultDirs}, nil
}

// systemRequest returns the request for a library of the system. Linux' loader alone knows its
// folders, so it gets a bare name; it searches the folders of LD_LIBRARY_PATH first, where an
// empty one is the current folder, for the C library as well. macOS would search the current
// folder for a bare name.
func systemRequest(goos, name string) (request, error) {
	if name == "" || strings.ContainsAny(name, `/\:`) {
		return request{}, fmt.Errorf("%q is no file name of a library", name)
	}
	if goos == "darwin" {
		name = "/usr/lib/" + name
	}
	return request{name, searchSystem32}, nil
}

// isAbs is filepath.IsAbs of a system.
func isAbs(goos, path string) bool {
	if goos != "windows" {
		return strings.HasPrefix(path, "/")
	}
	isSlash := func(c byte) bool { return c == '/' || c == '\\' }
	return len(path) > 2 && (isSlash(path[0]) && isSlash(path[1]) || path[1] == ':' && isSlash(path[2]))
}
