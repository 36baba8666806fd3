package gguf

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// A File is an open file, or several that hold a model together. Any number of goroutines may
// use it.
type File struct {
	Version int
	Meta    Meta

	path    string
	tensors treefile.Tensors[entry]
	infos   []Info
	parts   []*mapped.Handle
}

// An Info describes a tensor of a file.
type Info struct {
	Name   string
	Type   Type
	Shape  []int // row-major: in a matrix, rows first
	Bytes  int   // size in the file
	Offset int64 // of the first byte in its file
}

// An entry is a tensor and its file.
type entry struct {
	Info
	file *mapped.Handle
}

// Open opens a file and checks its header. Of a model in several files, such as
// model-00001-of-00003.gguf, any of which may be named, it opens all; Meta is the first
// file's.
//
// A tensor is read by Tensor, Raw or Load, which need the file open.
func Open(path string) (*File, error) {
	f := &File{path: path, tensors: treefile.Tensors[entry]{}}
	if err := f.open(path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open(path string) error {
	if err := f.openPart(path); err != nil {
		return err
	}
	const countKey = "split.count"
	if f.Meta.Value(countKey) == nil {
		return nil
	}
	count, err := Get[int](f.Meta, countKey)
	if err != nil {
		return fail(path, err)
	}
	names, err := parts(path, count)
	if err != nil || count < 2 {
		return err
	}
	first := *f
	f.parts, f.infos, f.tensors = nil, nil, treefile.Tensors[entry]{}
	if err := first.Close(); err != nil {
		return fail(path, err)
	}
	var meta Meta
	for i, name := range names {
		if err := f.openPart(name); err != nil {
			return err
		}
		if i == 0 {
			meta = f.Meta
		}
	}
	f.Meta = meta
	return nil
}

// parts returns the names of the count files of a model, one of which is path.
func parts(path string, count int) (names []string, err error) {
	if count < 2 {
		return []string{path}, nil
	}
	end := fmt.Sprintf("-of-%05d.gguf", count)
	base, ok := strings.CutSuffix(filepath.Base(path), end)
	if number := len("-00001"); ok && len(base) > number {
		base = base[:len(base)-number]
	} else {
		return nil, fail(path, fmt.Errorf("it is one of %d files of a model, whose names should end in %q", count, end))
	}
	for i := range count {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf("%s-%05d%s", base, i+1, end))
		if _, err := os.Stat(name); err != nil {
			return nil, fail(path, fmt.Errorf("it is one of %d files of a model, and there is no %s: %w", count, files.Name(filepath.Base(name)), files.Reason(err)))
		}
		names = append(names, name)
	}
	return names, nil
}

// Close closes the file. Tensors read from it stay valid.
func (f *File) Close() error {
	var errs []error
	for _, p := range f.parts {
		errs = append(errs, p.Close())
	}
	f.parts = nil
	return errors.Join(errs...)
}

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string { return f.tensors.Names() }

// Tensors describes the tensors, in the order of the file.
func (f *File) Tensors() []Info { return f.infos }

// Tensor reads a tensor. A quantised one has float32 elements that stay in their blocks in memory, and
// operations decode the blocks that they read.
func (f *File) Tensor(name string) (tensor.Tensor, error) {
	t, err := f.tensors.Tensor(name)
	if err != nil {
		return tensor.Tensor{}, fail(f.path, err)
	}
	return t, nil
}

// At reads one element along the first axis of a tensor, such as a matrix of a stack.
func (f *File) At(name string, i int) (tensor.Tensor, error) {
	e, ok := f.tensors[name]
	switch {
	case !ok:
		return tensor.Tensor{}, fail(f.path, fmt.Errorf("there is no tensor named %q", name))
	case len(e.Info.Shape) < 2 || i < 0 || i >= e.Info.Shape[0]:
		return tensor.Tensor{}, fail(f.path, fmt.Errorf("%q is of shape %v: there is no element %d of several axes", name, e.Info.Shape, i))
	}
	e.Info.Shape = e.Info.Shape[1:]
	e.Bytes = e.Info.Type.bytes(e.Len())
	e.Offset += int64(i) * int64(e.Bytes)
	t, err := e.Read()
	if err != nil {
		return tensor.Tensor{}, fail(f.path, fmt.Errorf("%q: %w", name, err))
	}
	return t, nil
}

// Load fills a tree as safetensors.File.Load does.
func (f *File) Load(tree any, rename func(name string) string) error {
	if err := f.tensors.Load(tree, rename); err != nil {
		return fail(f.path, err)
	}
	return nil
}

func fail(path string, err error) error {
	return fmt.Errorf("gguf: %s: %w", files.Name(path), files.Quoted(unprefixed(err)))
}

// unprefixed returns err without the name of this package, which fail adds.
func unprefixed(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), "gguf: "); ok {
		return errors.New(text)
	}
	return err
}

// openPart opens a file and adds its tensors to f.
func (f *File) openPart(path string) error {
	file, err := files.Open(path)
	if err != nil {
		return fail(path, files.Reason(err))
	}
	f.parts = append(f.parts, mapped.HandleOf(file, path))
	stat, err := file.Stat()
	if err != nil {
		return fail(path, files.Reason(err))
	}
	h, err := parseHeader(newParser(file, stat.Size()))
	if err != nil {
		return fail(path, files.Reason(err))
	}
	f.Version, f.Meta = h.version, h.meta
	for _, info := range h.tensors {
		if _, ok := f.tensors[info.Name]; ok {
			return fail(path, fmt.Errorf("%q is in another file of the model, too", info.Name))
		}
		f.tensors[info.Name] = entry{info, f.parts[len(f.parts)-1]}
	}
	f.infos = append(f.infos, h.tensors...)
	return nil
}

// A header is all of a file but the tensors' elements.
type header struct {
	version int
	meta    Meta
	tensors []Info
}

const (
	alignmentKey     = "general.alignment"
	defaultAlignment = 32
	maxAlignment     = 1 << 20
)

// parseHeader reads and checks a file's header.
func parseHeader(p *parser) (h header, err error) {
	tensors, pairs, err := p.start()
	if err != nil {
		return h, err
	}
	h.version = p.version
	if h.meta, err = p.meta(pairs); err != nil {
		return h, err
	}
	align, err := alignment(h.meta)
	if err != nil {
		return h, err
	}
	if err := hostmem.Check(tensors, perTensor); err != nil {
		return h, err
	}
	seen := map[string]bool{}
	for range tensors {
		info, err := p.info()
		if err != nil {
			return h, err
		}
		if seen[info.Name] {
			return h, fmt.Errorf("two tensors are named %q", info.Name)
		}
		seen[info.Name] = true
		h.tensors = append(h.tensors, info)
	}
	return h, place(h.tensors, (p.at+align-1)/align*align, align, p.size)
}

// alignment returns the alignment of the offsets of tensors.
func alignment(m Meta) (int64, error) {
	if m.Value(alignmentKey) == nil {
		return defaultAlignment, nil
	}
	n, err := Get[int64](m, alignmentKey)
	if err == nil && (n < 1 || n > maxAlignment || bits.OnesCount64(uint64(n)) != 1) {
		err = fmt.Errorf("%s is %d: want a power of two up to %d", alignmentKey, n, maxAlignment)
	}
	return n, err
}

// info reads the description of a tensor; its offset is from the end of the header.
func (p *parser) info() (t Info, err error) {
	if t.Name, err = p.text("the name of a tensor", maxKey); err != nil {
		return t, err
	}
	if !utf8.ValidString(t.Name) || t.Name == "" {
		return t, fmt.Errorf("a tensor is named %q: want text in UTF-8", t.Name)
	}
	rank, err := p.uint32()
	if err != nil {
		return t, err
	}
	if rank > shape.MaxFileRank {
		return t, fmt.Errorf("%q has %d axes: want at most %d", t.Name, rank, shape.MaxFileRank)
	}
	t.Shape = make([]int, rank)
	count, over := uint64(1), uint64(0)
	for i := range t.Shape {
		n, err := p.length()
		if err != nil {
			return t, err
		}
		var hi uint64
		hi, count = bits.Mul64(count, n)
		over |= hi | n>>62
		t.Shape[len(t.Shape)-1-i] = int(n) // ggml's first axis is the innermost
	}
	if over|count>>58 != 0 || shape.Check(t.Shape) != nil {
		return t, fmt.Errorf("%q has more elements than can be counted", t.Name)
	}
	typ, err := p.uint32()
	if err != nil {
		return t, err
	}
	t.Type = Type(typ)
	if _, ok := types[t.Type]; !ok {
		return t, unknownType(t)
	}
	if err := checkRows(t); err != nil {
		return t, err
	}
	offset, err := p.uint64()
	if err == nil && offset > uint64(p.size) {
		err = fmt.Errorf("%q would begin %d bytes after the header, in a file of %d", t.Name, offset, p.size)
	}
	t.Offset, t.Bytes = int64(offset), t.Type.bytes(int(count))
	return t, err
}

func unknownType(t Info) error {
	if old, ok := removed[t.Type]; ok {
		return fmt.Errorf("%q is of type %s, which newer versions of ggml do not have: quantise the model again", t.Name, old)
	}
	return fmt.Errorf("%q is of an unknown type %d", t.Name, uint32(t.Type))
}

// checkRows returns an error unless rows have whole blocks.
func checkRows(t Info) error {
	n, row := 1, 1
	if n, _ = t.Type.Block(); len(t.Shape) > 0 {
		row = t.Shape[len(t.Shape)-1]
	}
	if row%n != 0 {
		return fmt.Errorf("%q of shape %v cannot be of type %v: its rows have %d elements, and blocks %d", t.Name, t.Shape, t.Type, row, n)
	}
	return nil
}

// place adds the start of the data to the offsets of tensors, and checks them.
func place(tensors []Info, start, align, size int64) error {
	order := make([]*Info, len(tensors))
	for i := range tensors {
		t := &tensors[i]
		order[i] = t
		if t.Offset%align != 0 {
			return fmt.Errorf("%q begins %d bytes after the header: want a multiple of %d", t.Name, t.Offset, align)
		}
		t.Offset += start
		if t.Bytes > 0 && (t.Offset > size || int64(t.Bytes) > size-t.Offset) {
			return fmt.Errorf("%q needs %d bytes from %d on, and the file has %d: cut short?", t.Name, t.Bytes, t.Offset, size)
		}
	}
	slices.SortFunc(order, func(a, b *Info) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Bytes, b.Bytes))
	})
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.Offset+int64(a.Bytes) > b.Offset {
			return fmt.Errorf("%q and %q overlap at byte %d", a.Name, b.Name, b.Offset)
		}
	}
	return nil
}
