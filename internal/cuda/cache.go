//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// cached returns the code of a text from the cache on disk, or compiles it. Without a cache
// folder that can be written, it compiles.
func cached(g GPU, text string, compile func() ([]byte, error)) ([]byte, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return compile()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d\n%s", g.Driver, g.Name, g.Capability, text))
	name := fmt.Sprintf("%x", sum)
	path := filepath.Join(dir, "tensorken", "cuda", name[:2], name[2:]+".cubin")
	if code, err := os.ReadFile(path); err == nil && isELF(code) {
		return code, nil
	}
	code, err := compile()
	if err == nil {
		write(path, code)
	}
	return code, err
}

// isELF reports whether code begins as what the driver makes does.
func isELF(code []byte) bool { return len(code) > 64 && string(code[:4]) == "\x7fELF" }

// write writes a file at once, so that no reader finds a part of it. A failure leaves none.
func write(path string, code []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		return
	}
	_, err = f.Write(code)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
