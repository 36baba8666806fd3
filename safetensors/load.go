package safetensors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Load fills a tree from a file: it is [Open] and [File.Load] without rename.
func Load(path string, tree any) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(tree, nil)
}

// Load fills in place the tree that a pointer points to, or a map of pointers. File
// and tree must have the same tensors, equal in shape and type. An absent tensor, an
// empty slice or map and a nil pointer take the file's tensors, so a zero struct can be
// loaded. If Load fails, the tree is unchanged.
//
// A pointer that occurs twice in the tree is saved and loaded once, under its first
// name. Load cannot know which pointers of a zero struct are to be equal: the first
// points to a new value and the others stay nil. To load such a model, construct it as
// before it was saved, or set the other pointers after Load.
//
// rename, if not nil, returns the name in the tree of a tensor in the file; "" skips
// the tensor.
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
	set, err := pytree.Fill(tree, slices.Collect(maps.Keys(l.source)), l.fill)
	if err == nil {
		err = l.check(tree)
	}
	if err != nil {
		return fail(f.path, err)
	}
	set()
	return nil
}

// A loader fills a tree from a file and collects mismatches.
type loader struct {
	file       *File
	source     map[string]string // names in the file by names in the tree
	unused     map[string]bool   // names in the tree
	missing    []string          // names in the tree that the file lacks
	mismatched []string          // differences in shape or type
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
		l.mismatched = append(l.mismatched, fmt.Sprintf("%q is %s %v in the file and %v %v in the tree",
			name, typ, p.shape, x.DType(), x.Shape()))
		return x, nil
	}
	t, err := p.read()
	if err != nil {
		err = fmt.Errorf("%q: %w", name, err)
	}
	return t, err
}

// check returns an error if file and tree do not match.
func (l *loader) check(tree any) error {
	switch {
	case len(l.mismatched) > 0:
		return errors.New(firstFew(l.mismatched))
	case len(l.missing) > 0:
		return fmt.Errorf("it has no tensor %s, which the tree has", firstFew(l.missing))
	case len(l.unused) > 0:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(l.unused)) {
			names = append(names, strconv.Quote(l.source[name]))
		}
		return fmt.Errorf("a %s has no field for %s", strings.TrimPrefix(fmt.Sprintf("%T", tree), "*"), firstFew(names))
	}
	return nil
}

// firstFew lists the first elements of what and counts the others.
func firstFew(what []string) string {
	const most = 3
	if more := len(what) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(what[:most], ", "), more)
	}
	return strings.Join(what, ", ")
}
