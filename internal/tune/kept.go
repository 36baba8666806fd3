package tune

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/schedule"
)

// maxKept is the greatest number of choices for one GPU: a client may choose shapes without end.
const maxKept = 1 << 12

// A keptFile has the names of the choices for one GPU, by their keys. It is text: a line that
// identifies the GPU, a line for each choice, and a checksum. Where it cannot be read or written,
// choices are kept in memory.
type keptFile struct {
	path  string // "" if there is no cache folder, as in browsers
	gpu   string // the first line
	names map[string]string
}

// newKeptFile returns the choices that are kept for a GPU.
func newKeptFile(gpu string) *keptFile {
	f := &keptFile{gpu: fmt.Sprintf("tiles of %q", gpu), names: map[string]string{}}
	f.path = pathFor(f.gpu)
	f.read()
	return f
}

// get returns the name that is kept for a key, or "".
func (f *keptFile) get(key string) string { return f.names[key] }

// put keeps a name for a key, and returns it. If another process has kept one meanwhile, that one
// stays, so that processes compute the same bits from then on.
func (f *keptFile) put(key, name string) string {
	old := f.names[key]
	f.read()
	if other := f.names[key]; other != old {
		return other
	}
	for other := range f.names {
		if len(f.names) < maxKept {
			break
		}
		delete(f.names, other) // any one
	}
	f.names[key] = name
	f.write()
	return name
}

// read adds the choices of the file. Lines that are not choices are left out, and so is a whole
// file for another GPU.
func (f *keptFile) read() {
	first, lines, _ := strings.Cut(load(f.path), "\n")
	if first != f.gpu {
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
	var text bytes.Buffer
	fmt.Fprintln(&text, f.gpu)
	for _, key := range slices.Sorted(maps.Keys(f.names)) {
		fmt.Fprintln(&text, key, f.names[key])
	}
	store(f.path, text.Bytes())
}
