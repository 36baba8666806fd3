//go:build (linux || darwin || windows) && (amd64 || arm64)

package dynlib

import "testing"

// The request of each system: never a name that it would search for in the current folder.
func TestRequest(t *testing.T) {
	const file = searchLibraryFolder | searchDefaultDirs
	for _, c := range []struct {
		of         func(goos, path string) (request, error)
		call, goos string
		path       string
		want       request // none for an error
	}{
		{systemRequest, "systemRequest", "linux", "libcuda.so.1", request{"libcuda.so.1", searchSystem32}},
		{systemRequest, "systemRequest", "windows", "nvcuda.dll", request{"nvcuda.dll", searchSystem32}},
		{systemRequest, "systemRequest", "darwin", "libz.dylib", request{"/usr/lib/libz.dylib", searchSystem32}},
		{systemRequest, "systemRequest", "windows", `x\nvcuda.dll`, request{}},
		{systemRequest, "systemRequest", "windows", `C:nvcuda.dll`, request{}},
		{systemRequest, "systemRequest", "linux", "./libcuda.so.1", request{}},
		{systemRequest, "systemRequest", "linux", "", request{}},
		{fileRequest, "fileRequest", "linux", "/a/b.so", request{"/a/b.so", file}},
		{fileRequest, "fileRequest", "darwin", "/a/b.dylib", request{"/a/b.dylib", file}},
		{fileRequest, "fileRequest", "windows", `C:\a/b.dll`, request{`C:\a\b.dll`, file}},
		{fileRequest, "fileRequest", "windows", `\\server\share\b.dll`, request{`\\server\share\b.dll`, file}},
		{fileRequest, "fileRequest", "windows", `C:\a.b/c`, request{`C:\a.b\c.`, file}},
		{fileRequest, "fileRequest", "linux", "b.so", request{}},
		{fileRequest, "fileRequest", "linux", "./b.so", request{}},
		{fileRequest, "fileRequest", "darwin", "a/b.dylib", request{}},
		{fileRequest, "fileRequest", "windows", "b.dll", request{}},
		{fileRequest, "fileRequest", "windows", `\a\b.dll`, request{}}, // of the current drive
		{fileRequest, "fileRequest", "windows", `C:b.dll`, request{}},
		{fileRequest, "fileRequest", "windows", "", request{}},
	} {
		got, err := c.of(c.goos, c.path)
		if got != c.want || (err == nil) != (c.want != request{}) {
			t.Errorf("%s(%q, %q) = %+v, %v, want %+v", c.call, c.goos, c.path, got, err, c.want)
		}
	}
}
