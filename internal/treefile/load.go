package treefile

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

// An Entry is a tensor of a file, which Read reads.
type Entry interface {
	// Type returns the type, 0 if package tensor lacks it, and the format's name of it.
	Type() (tensor.DType, string)
	// Shape returns the lengths of the axes.
	Shape() []int
	// Read reads the elements of a type that package tensor has.
	Read() (tensor.Tensor, error)
}

// Tensors are the tensors of a file by name.
type Tensors[E Entry] map[string]E

// Names returns the names, sorted.
func (ts Tensors[E]) Names() []string { return slices.Sorted(maps.Keys(ts)) }

// Tensor reads a tensor.
func (ts Tensors[E]) Tensor(name string) (tensor.Tensor, error) {
	e, ok := ts[name]
	if !ok {
		return tensor.Tensor{}, fmt.Errorf("there is no tensor named %q", name)
	}
	return read(name, e)
}

// read reads a tensor for errors under the given name.
func read(name string, e Entry) (tensor.Tensor, error) {
	d, typ := e.Type()
	if d == 0 {
		return tensor.Tensor{}, fmt.Errorf("%q: there are no tensors of type %s", name, typ)
	}
	t, err := e.Read()
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%q: %w", name, err)
	}
	return t, nil
}

// Load fills a tree from a file: see safetensors.File.Load.
func (ts Tensors[E]) Load(tree any, rename func(name string) string) error {
	l := loader[E]{tensors: ts, source: map[string]string{}, unused: map[string]bool{}}
	for _, name := range ts.Names() {
		to := name
		if rename != nil {
			if to = rename(name); to == "" {
				continue
			}
		}
		if other, ok := l.source[to]; ok {
			return fmt.Errorf("%q and %q would both be named %q", other, name, to)
		}
		l.source[to], l.unused[to] = name, true
	}
	set, err := pytree.Fill(tree, slices.Collect(maps.Keys(l.source)), l.fill)
	if err == nil {
		err = l.check(tree)
	}
	if err != nil {
		return err
	}
	set()
	return nil
}

// A loader fills a tree from a file and collects mismatches.
type loader[E Entry] struct {
	tensors    Tensors[E]
	source     map[string]string // names in the file by names in the tree
	unused     map[string]bool   // names in the tree
	missing    []string          // names in the tree that the file lacks
	mismatched []string          // differences in shape or type
}

func (l *loader[E]) fill(name string, found bool, x tensor.Tensor) (tensor.Tensor, error) {
	if !found {
		if x.IsValid() {
			l.missing = append(l.missing, strconv.Quote(name))
		}
		return x, nil
	}
	delete(l.unused, name)
	e := l.tensors[l.source[name]]
	d, typ := e.Type()
	if x.IsValid() && (x.DType() != d || !slices.Equal(x.Shape(), e.Shape())) {
		if d != 0 {
			typ = d.String()
		}
		l.mismatched = append(l.mismatched, fmt.Sprintf("%q is %s %v in the file and %v %v in the tree",
			name, typ, e.Shape(), x.DType(), x.Shape()))
		return x, nil
	}
	return read(name, e)
}

// check returns an error if file and tree do not match.
func (l *loader[E]) check(tree any) error {
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
