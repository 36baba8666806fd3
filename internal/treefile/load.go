package treefile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
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

// transposed ends a name that Transposed marked.
const transposed = "\x00transposed"

// Transposed marks a name that rename returns to Load: see safetensors.Transposed.
func Transposed(name string) string {
	if name == "" || strings.HasSuffix(name, transposed) {
		return strings.TrimSuffix(name, transposed)
	}
	return name + transposed
}

// Load fills a tree from a file: see safetensors.File.Load.
func (ts Tensors[E]) Load(tree any, rename func(name string) string) error {
	l := loader[E]{tensors: ts, source: map[string]source{}, unused: map[string]bool{}}
	for _, name := range ts.Names() {
		to, transpose := name, false
		if rename != nil {
			if to, transpose = strings.CutSuffix(rename(name), transposed); to == "" {
				continue
			}
		}
		if other, ok := l.source[to]; ok {
			return fmt.Errorf("%q and %q would both be named %q", other.name, name, to)
		}
		if rank := len(ts[name].Shape()); transpose && rank < 2 {
			return fmt.Errorf("%q is of shape %v: it has no two axes to transpose", name, ts[name].Shape())
		}
		l.source[to], l.unused[to] = source{name, transpose}, true
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
	source     map[string]source // by names in the tree
	unused     map[string]bool   // names in the tree
	missing    []string          // names in the tree that the file lacks
	mismatched []string          // differences in shape or type
}

// A source is a tensor's name in the file, and whether its last two axes are swapped.
type source struct {
	name      string
	transpose bool
}

func (l *loader[E]) fill(name string, found, optional bool, x tensor.Tensor) (tensor.Tensor, error) {
	if !found {
		if !x.IsValid() && !optional {
			l.missing = append(l.missing, strconv.Quote(name))
		}
		return x, nil
	}
	delete(l.unused, name)
	from := l.source[name]
	e := l.tensors[from.name]
	d, typ := e.Type()
	shape, how := e.Shape(), ""
	if n := len(shape); from.transpose {
		shape, how = slices.Clone(shape), ", transposed,"
		shape[n-2], shape[n-1] = shape[n-1], shape[n-2]
	}
	if x.IsValid() && (x.DType() != d || !slices.Equal(x.Shape(), shape)) {
		if d != 0 {
			typ = d.String()
		}
		l.mismatched = append(l.mismatched, fmt.Sprintf("%q is %s %v%s in the file and %v %v in the tree",
			name, typ, shape, how, x.DType(), x.Shape()))
		return x, nil
	}
	t, err := read(name, e)
	if err == nil && from.transpose {
		t = t.T()
	}
	return t, err
}

// check returns an error if file and tree do not match.
func (l *loader[E]) check(tree any) error {
	var faults []string
	if len(l.mismatched) > 0 {
		faults = append(faults, firstFew(l.mismatched))
	}
	typ := strings.TrimPrefix(fmt.Sprintf("%T", tree), "*")
	if len(l.missing) > 0 {
		faults = append(faults, fmt.Sprintf("it lacks %s of a %s: tag a field that may stay absent `tensor:\",optional\"`", firstFew(l.missing), typ))
	}
	faults = append(faults, l.hollows(tree, typ)...)
	if len(l.unused) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(l.unused)) {
			names = append(names, strconv.Quote(l.source[name].name))
		}
		faults = append(faults, fmt.Sprintf("a %s has no field for %s", typ, firstFew(names)))
	}
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// hollows returns a fault for each part of the tree that holds nothing, a nil one or a list
// without elements, where the file has tensors, and removes their names from l.unused.
func (l *loader[E]) hollows(tree any, typ string) (faults []string) {
	unused, more := slices.Sorted(maps.Keys(l.unused)), 0
	err := pytree.Inner[tensor.Tensor](tree, func(name string, v reflect.Value) {
		what, how, prefix := pytree.Title(name), "a nil "+v.Type().String(), name+"."
		if name == "" {
			what, prefix = "the tree", ""
		}
		switch k := v.Kind(); {
		case k != reflect.Interface && k != reflect.Pointer && k != reflect.Slice && k != reflect.Map:
			return
		case v.IsNil():
		case k == reflect.Interface, k == reflect.Pointer, v.Len() > 0:
			return
		default:
			how = "an empty " + v.Type().String()
		}
		var names []string
		use := func(to string) {
			if l.unused[to] {
				names = append(names, strconv.Quote(l.source[to].name))
				delete(l.unused, to)
			}
		}
		use(name)
		at, _ := slices.BinarySearch(unused, prefix)
		for ; at < len(unused) && strings.HasPrefix(unused[at], prefix); at++ {
			use(unused[at])
		}
		switch {
		case names == nil:
		case len(faults) == mostHollows:
			more++
		default:
			faults = append(faults, fmt.Sprintf("%s of a %s is %s, so it has no place for %s: make the model first, by the constructor that made the saved one, and load into it",
				what, typ, how, firstFew(names)))
		}
	})
	if err != nil {
		return nil
	}
	if more > 0 {
		faults = append(faults, fmt.Sprintf("and so are %d more", more))
	}
	return faults
}

// mostHollows is the greatest number of faults of hollows that an error lists.
const mostHollows = 3

// few is the number of items of a list that an error has.
const few = 8

// firstFew lists the first elements of a list and counts the others.
func firstFew(what []string) string {
	if more := len(what) - few; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(what[:few], ", "), more)
	}
	return strings.Join(what, ", ")
}
