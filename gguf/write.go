package gguf

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// A Source is a tensor to write. Of Tensor and Raw one is set; Write calls it once, and keeps one
// tensor at a time.
type Source struct {
	Name  string
	Type  Type
	Shape []int
	// Tensor returns the elements. Numbers of another type than Type's are converted or
	// quantised.
	Tensor func() (tensor.Tensor, error)
	// Raw returns the bytes as the file has them, as File.Raw does.
	Raw func() ([]byte, error)
	// Importance has a weight of at least 0 for each column of a matrix, or for each column of
	// each matrix of a stack, by which squared errors are multiplied when it is quantised; nil is
	// equal weights.
	Importance []float32
}

// Save writes the tensors of a tree, without absent ones, under the names that package tree
// describes. typ chooses types; nil keeps each tensor's. If path is a symbolic link, Save
// writes its target; path is the old file or the whole new one at all times.
func Save(path string, tree any, meta Meta, typ func(name string, shape []int) Type) error {
	tensors, err := treefile.Collect(tree)
	if err == nil {
		err = tensor.Eval(slices.Collect(maps.Values(tensors)))
	}
	if err != nil {
		return saveError(path, err)
	}
	var sources []Source
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		x := tensors[name]
		s := Source{Name: name, Shape: x.Shape(), Tensor: func() (tensor.Tensor, error) { return x, nil }}
		if typ != nil {
			s.Type = typ(name, s.Shape)
		} else if s.Type, err = TypeOf(x.DType()); err != nil {
			return saveError(path, fmt.Errorf("%q: %w", name, err))
		}
		sources = append(sources, s)
	}
	return Write(path, meta, sources)
}

// TypeOf returns the type that stores elements of a type of package tensor.
func TypeOf(d tensor.DType) (Type, error) {
	for _, t := range Types() {
		if info := types[t]; info.block == nil && info.dtype == d {
			return t, nil
		}
	}
	return 0, fmt.Errorf("gguf: there are no tensors of type %v in such files", d)
}

// Write writes a file with metadata and tensors, in their order. The alignment is
// general.alignment of meta, or 32.
func Write(path string, meta Meta, tensors []Source) error {
	return saveError(path, write(path, meta, tensors))
}

func saveError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gguf: save %s: %w", files.Name(path), unprefixed(files.Reason(err)))
}

func write(path string, meta Meta, tensors []Source) error {
	align, err := alignment(meta)
	if err != nil {
		return err
	}
	head, err := appendHeader(nil, meta, tensors, align)
	if err != nil {
		return err
	}
	return files.Replace(path, func(w *bufio.Writer) error {
		w.Write(head)
		pad(w, len(head), align)
		for _, s := range tensors {
			b, err := s.bytes()
			if err != nil {
				return fmt.Errorf("%q: %w", s.Name, unprefixed(err))
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
			pad(w, len(b), align)
		}
		return nil
	})
}

// pad writes zeros from n on up to a multiple of align.
func pad(w *bufio.Writer, n int, align int64) { w.Write(make([]byte, int(-int64(n)&(align-1)))) }

// appendHeader appends all that precedes the elements.
func appendHeader(b []byte, meta Meta, tensors []Source, align int64) ([]byte, error) {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(tensors)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(meta)))
	seen := map[string]bool{}
	for _, p := range meta {
		if seen[p.Key] || len(p.Key) > maxKey {
			return nil, fmt.Errorf("metadata %q: the key is there twice, or longer than %d bytes", p.Key, maxKey)
		}
		seen[p.Key] = true
		v := reflect.ValueOf(p.Value)
		kind, ok := kindOf(v)
		if !ok {
			return nil, fmt.Errorf("metadata %q is of type %T: see gguf.Pair for those that can be written", p.Key, p.Value)
		}
		b = binary.LittleEndian.AppendUint32(appendText(b, p.Key), kind)
		var err error
		if b, err = appendValue(b, kind, v, 0); err != nil {
			return nil, fmt.Errorf("metadata %q: %w", p.Key, err)
		}
	}
	clear(seen)
	offset := int64(0)
	for _, s := range tensors {
		size, err := s.check()
		if err == nil && seen[s.Name] {
			err = errors.New("two tensors have this name")
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s.Name, err)
		}
		seen[s.Name] = true
		b = binary.LittleEndian.AppendUint32(appendText(b, s.Name), uint32(len(s.Shape)))
		for _, n := range slices.Backward(s.Shape) {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Type))
		b = binary.LittleEndian.AppendUint64(b, uint64(offset))
		offset += (int64(size) + align - 1) &^ (align - 1)
	}
	return b, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// check returns the size of a source in bytes.
func (s Source) check() (int, error) {
	switch _, ok := types[s.Type]; {
	case !ok:
		return 0, fmt.Errorf("there is no type %d", uint32(s.Type))
	case !utf8.ValidString(s.Name) || s.Name == "" || len(s.Name) > maxKey:
		return 0, errors.New("a tensor cannot have this name")
	case len(s.Shape) > shape.MaxFileRank:
		return 0, fmt.Errorf("it has %d axes: want at most %d", len(s.Shape), shape.MaxFileRank)
	}
	if err := shape.Check(s.Shape); err != nil {
		return 0, err
	}
	if err := checkRows(Info{Name: s.Name, Type: s.Type, Shape: s.Shape}); err != nil {
		return 0, err
	}
	return s.Type.bytes(graph.Len(s.Shape)), nil
}

// kindOf returns the kind of metadata of a Go value.
func kindOf(v reflect.Value) (uint32, bool) {
	if !v.IsValid() {
		return 0, false
	}
	switch v.Kind() {
	case reflect.String:
		return kindString, true
	case reflect.Slice:
		return kindArray, true
	}
	for kind, k := range numberKinds {
		if reflect.TypeOf(k.one(make([]byte, 8))) == v.Type() {
			return kind, true
		}
	}
	return 0, false
}

// appendValue appends a value of a kind; depth counts the arrays that it is in.
func appendValue(b []byte, kind uint32, v reflect.Value, depth int) ([]byte, error) {
	switch kind {
	case kindString:
		return appendText(b, v.String()), nil
	case kindArray:
	default:
		return binary.Append(b, binary.LittleEndian, v.Interface())
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d arrays lie in each other", maxDepth)
	}
	element, ok := uint32(kindArray), true
	if t := v.Type().Elem(); t.Kind() != reflect.Interface {
		element, ok = kindOf(reflect.Zero(t))
	}
	if !ok {
		return nil, fmt.Errorf("there are no arrays of %v", v.Type().Elem())
	}
	b = binary.LittleEndian.AppendUint32(b, element)
	b = binary.LittleEndian.AppendUint64(b, uint64(v.Len()))
	if element != kindString && element != kindArray {
		return binary.Append(b, binary.LittleEndian, v.Interface())
	}
	for i := range v.Len() {
		e := v.Index(i)
		if e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		if kind, ok := kindOf(e); !ok || kind != element {
			return nil, errors.New("an array of type []any has elements that are no arrays")
		}
		var err error
		if b, err = appendValue(b, element, e, depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// bytes returns the elements as the file has them.
func (s Source) bytes() ([]byte, error) {
	if s.Raw != nil {
		b, err := s.Raw()
		if want := s.Type.bytes(graph.Len(s.Shape)); err == nil && len(b) != want {
			err = fmt.Errorf("there are %d bytes, want %d", len(b), want)
		}
		return b, err
	}
	if s.Tensor == nil {
		return nil, errors.New("it has neither Raw nor Tensor")
	}
	x, err := s.Tensor()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(x.Shape(), s.Shape) {
		return nil, fmt.Errorf("the tensor is of shape %v, want %v", x.Shape(), s.Shape)
	}
	info := types[s.Type]
	if x.DType() != info.dtype {
		if x.DType().IsFloat() != info.dtype.IsFloat() {
			return nil, fmt.Errorf("the tensor is of type %v, which cannot be stored as %v", x.DType(), s.Type)
		}
		x = x.Cast(info.dtype)
	}
	b, err := tensor.Internal.Bytes(graph.Token{}, "Save", x)
	if err != nil || info.block == nil {
		return b, err
	}
	return s.encode(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4))
}

// encode quantises numbers, on all cores.
func (s Source) encode(x []float32) ([]byte, error) {
	f := types[s.Type].block
	columns := s.Shape[max(0, len(s.Shape)-1)]
	weights := s.Importance
	if err := s.checkImportance(len(x), columns); err != nil {
		return nil, err
	}
	b, err := hostmem.Make(len(x)/f.Len, f.Bytes)
	if err != nil || len(x) == 0 {
		return b, err
	}
	perMatrix := len(x)
	if n := len(weights) / columns; n > 1 {
		perMatrix = len(x) / n
	}
	const numbers = 1 << 14 // at a time
	err = files.Parallel(len(x)/f.Len, cmp.Or(numbers/f.Len, 1), func(begin, end int) error {
		for i := begin; i < end; i++ {
			at := i * f.Len
			var w []float32
			if weights != nil {
				from := at/perMatrix*columns + at%columns
				w = weights[from : from+f.Len]
			}
			if err := f.Encode(b[i*f.Bytes:(i+1)*f.Bytes], x[at:at+f.Len], w); err != nil {
				return fmt.Errorf("row %d from column %d on: %w", at/columns, at%columns, err)
			}
		}
		return nil
	})
	return b, err
}

// checkImportance returns an error unless there are weights for columns, or none.
func (s Source) checkImportance(count, columns int) error {
	n := len(s.Importance)
	if n == 0 {
		return nil
	}
	if columns == 0 || n%columns != 0 || count%n != 0 {
		return fmt.Errorf("its importance has %d weights for shape %v: want %d, or a multiple for a stack", n, s.Shape, columns)
	}
	for i, w := range s.Importance {
		if !(w >= 0 && w-w == 0) {
			return fmt.Errorf("its importance of column %d is %v: want a number of at least 0", i%columns, w)
		}
	}
	return nil
}
