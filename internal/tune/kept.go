//go:build !js

package tune

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/schedule"
)

// A keptFile has the names of the choices for one GPU, by their keys. It is text: a line that
// identifies the GPU, and a line for each choice. Where it cannot be read or written, choices are
// kept in memory.
type keptFile struct {
	path  string // "" if there is no cache folder
	gpu   string // the first line
	names map[string]string
}

// newKeptFile returns the choices that are kept for a GPU.
func newKeptFile(gpu string) *keptFile {
	f := &keptFile{gpu: fmt.Sprintf("tiles of %q", gpu), names: map[string]string{}}
	if dir, err := os.UserCacheDir(); err == nil {
		h := fnv.New64a()
		io.WriteString(h, f.gpu)
		name := fmt.Sprintf("%016x.txt", h.Sum64())
		f.path = filepath.Join(dir, "tensorken", "tune", name)
	}
	f.read()
	return f
}

// get returns the name that is kept for a key, "" if there is none.
func (f *keptFile) get(key string) string { return f.names[key] }

// put keeps a name for a key, and returns it. If another process has kept one meanwhile, that one
// stays, so that processes compute the same bits from then on.
func (f *keptFile) put(key, name string) string {
	old := f.names[key]
	f.read()
	if other := f.names[key]; other != old {
		return other
	}
	f.names[key] = name
	f.write()
	return name
}

// read adds the choices of the file. What is no choice is left out, and so is all of a file for
// another GPU.
func (f *keptFile) read() {
	file, err := files.Open(f.path)
	if err != nil {
		return
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	first, lines, _ := strings.Cut(string(text), "\n")
	if err != nil || first != f.gpu {
		return
	}
	for line := range strings.Lines(lines) {
		key, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if found && strings.HasSuffix(line, "\n") && len(key) == schedule.KeyLen {
			f.names[key] = name
		}
	}
}

// write replaces the file. A choice that another process writes between read and write may be
// lost; its product is then searched again.
func (f *keptFile) write() {
	if f.path == "" || os.MkdirAll(filepath.Dir(f.path), 0o777) != nil {
		return
	}
	files.Replace(f.path, func(w *bufio.Writer) error {
		fmt.Fprintln(w, f.gpu)
		for _, key := range slices.Sorted(maps.Keys(f.names)) {
			fmt.Fprintln(w, key, f.names[key])
		}
		return nil
	})
}
