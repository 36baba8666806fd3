//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/tensorken/tensorken/internal/cachedir"
)

const (
	// maxCache is the greatest number of bytes of the cache folder, and of a file of it.
	maxCache = 256 << 20
	// trimAfter is the number of bytes after whose writing the folder is measured.
	trimAfter = 16 << 20
)

// cachePath returns the path of a text's code in the cache, "" if there is no cache folder. Code
// depends on the driver and the GPU as well.
func cachePath(g GPU, text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d\n%s", g.Driver, g.Name, g.Capability, text))
	name := fmt.Sprintf("%x", sum)
	dir := cachedir.Path("cuda")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name[:2], name[2:]+".cubin")
}

// readCache returns the code at a path, or nil.
func readCache(path string) []byte {
	if path == "" {
		return nil
	}
	code, err := cachedir.Read(path, maxCache)
	if err != nil || len(code) == 0 {
		return nil
	}
	return code
}

// writeCache keeps code for later processes, if that is possible. Now and then it removes the
// least recently used code.
func (l *library) writeCache(path string, code []byte) {
	if path == "" || cachedir.Write(path, code) != nil {
		return
	}
	size := int64(len(code))
	if n := l.written.Add(size); n == size || n > trimAfter {
		l.written.Store(1)
		cachedir.Trim(cachedir.Path("cuda"), maxCache-trimAfter)
	}
}
