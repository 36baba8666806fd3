//go:build !js

package tune

import (
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"

	"github.com/tensorken/tensorken/internal/cachedir"
)

// maxKeptFile is the greatest number of bytes of a file.
const maxKeptFile = 1 << 20

// maxFolder is the greatest number of bytes of all files. Each driver has one for each GPU.
const maxFolder = 16 << 20

// pathFor returns the path of a GPU's file, "" if there is no cache folder.
func pathFor(gpu string) string {
	dir := cachedir.Path("tune")
	if dir == "" {
		return ""
	}
	h := fnv.New64a()
	io.WriteString(h, gpu)
	return filepath.Join(dir, fmt.Sprintf("%016x.txt", h.Sum64()))
}

// load returns the text of a file, "" if it cannot be read.
func load(path string) string {
	if path == "" {
		return ""
	}
	text, err := cachedir.Read(path, maxKeptFile)
	if err != nil {
		return ""
	}
	return string(text)
}

// store replaces a file.
func store(path string, text []byte) {
	if path != "" && cachedir.Write(path, text) == nil {
		cachedir.Trim(filepath.Dir(path), maxFolder)
	}
}
