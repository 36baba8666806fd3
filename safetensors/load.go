package safetensors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/walk"
	"github.com/tensorken/tensorken/tensor"
)

// Load fills a tree from a file: [Open] and [File.Load] without rename.
func Load(path string, tree any) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(tree, nil)
}

// Load fills the tree that a pointer points to, or a map of pointers, in
// place. All in the file must have a place in the tree, and all in the tree
// must be in the file, equal in shape and type. An absent tensor and an empty
// slice or map take what the file has for them, and a nil pointer points to a
// new value if the file has something for it, so a zero struct can be loaded.
// If anything does not fit, nothing is changed.
//
// A pointer that is in the tree twice is saved and loaded once, under its first
// name. A zero struct does not say which of its pointers are equal: the first
// points to a new value and the others stay nil. To load such a model, make it
// as it was made before it was saved, or set the other pointers to the first
// one afterwards.
//
// rename, if not nil, gives the name in the tree for one in the file; "" skips
// it.
func (f *File) Load(tree any, rename func(name string) string) error {
	l := loader{file: f, source: map[string]string{}, unused: map[string]bool{}}
	for _, name := range f.Names() {
		to := name
		if rename != nil {
			if to = rename(name); to == "" {
				continue
			}
		}
		if other, ok := l.source[to]; ok {
			return fail(f.path, fmt.Errorf("%q and %q would both be named %q", other, name, to))
		}
		l.source[to], l.unused[to] = name, true
	}
	set, err := walk.Fill(tree, slices.Collect(maps.Keys(l.source)), l.fill)
	if err == nil {
		err = l.misfits(tree)
	}
	if err != nil {
		return fail(f.path, err)
	}
	set()
	return nil
}

// A loader fills a tree from a file and notes what does not fit.
type loader struct {
	file    *File
	source  map[string]string // names in the file by names in the tree
	unused  map[string]bool   // names in the tree
	missing []string
	unlike  []string // what differs in shape or type
}

func (l *loader) fill(name string, found bool, x tensor.Tensor) (tensor.Tensor, error) {
	if !found {
		if x.IsValid() {
			l.missing = append(l.missing, strconv.Quote(name))
		}
		return x, nil
	}
	delete(l.unused, name)
	p := l.file.tensors[l.source[name]]
	typ := elementTypes[p.typ]
	if x.IsValid() && (x.DType() != typ.dtype || !slices.Equal(x.Shape(), p.shape)) {
		l.unlike = append(l.unlike, fmt.Sprintf("%q is %s %v in the file and %v %v in the tree",
			name, typ, p.shape, x.DType(), x.Shape()))
		return x, nil
	}
	t, err := p.read()
	if err != nil {
		err = fmt.Errorf("%q: %w", name, err)
	}
	return t, err
}

// misfits is an error if not all in the file and the tree fit.
func (l *loader) misfits(tree any) error {
	switch {
	case len(l.unlike) > 0:
		return errors.New(some(l.unlike))
	case len(l.missing) > 0:
		return fmt.Errorf("it has no tensor for %s of the tree", some(l.missing))
	case len(l.unused) > 0:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(l.unused)) {
			names = append(names, strconv.Quote(l.source[name]))
		}
		return fmt.Errorf("there is no place in a %s for %s", strings.TrimPrefix(fmt.Sprintf("%T", tree), "*"), some(names))
	}
	return nil
}

// some lists the first few of what.
func some(what []string) string {
	const most = 3
	if more := len(what) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(what[:most], ", "), more)
	}
	return strings.Join(what, ", ")
}
