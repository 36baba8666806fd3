package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/hostmem"
)

const (
	magic = "GGUF"
	// maxDepth is how deep arrays of metadata may lie in each other.
	maxDepth = 8
	// maxKey is the most bytes of a key or of the name of a tensor.
	maxKey = 1<<16 - 1
	// growth is how many times its size a slice takes that append grows.
	growth = 6
	// perPair and perTensor are the most bytes in memory of a pair of metadata and of a tensor's
	// description, in lists and maps, beside its text.
	perPair   = 384
	perTensor = 768
)

// A parser reads the header of a file.
type parser struct {
	r       *bufio.Reader
	size    int64 // of the file
	at      int64
	version int
	words   bool   // lengths have 4 bytes, as in version 1
	strings []byte // memory for the next ones
}

func newParser(r io.ReaderAt, size int64) *parser {
	return &parser{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<16), size: size}
}

// read fills b.
func (p *parser) read(b []byte) error {
	n, err := io.ReadFull(p.r, b)
	p.at += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("it ends after %d bytes, within its header: cut short?", p.at)
	}
	return err
}

func (p *parser) uint32() (uint32, error) {
	var b [4]byte
	err := p.read(b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

func (p *parser) uint64() (uint64, error) {
	if b, err := p.r.Peek(8); err == nil { // without a buffer of its own
		p.at += 8
		p.r.Discard(8)
		return binary.LittleEndian.Uint64(b), nil
	}
	var b [8]byte
	err := p.read(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// length reads a number of 8 bytes, 4 in version 1.
func (p *parser) length() (uint64, error) {
	if p.words {
		n, err := p.uint32()
		return uint64(n), err
	}
	return p.uint64()
}

// count reads the number of things of at least size bytes each that follow.
func (p *parser) count(what string, size int64) (int, error) {
	n, err := p.length()
	if rest := p.size - p.at; err == nil && n > uint64(rest/size) {
		err = fmt.Errorf("%s would be %d, more than fit into the %d bytes that follow: damaged or cut short?", what, n, rest)
	}
	return int(n), err
}

func (p *parser) text(what string, most int) (string, error) {
	n, err := p.count("the bytes of "+what, 1)
	if err == nil && n > most {
		err = fmt.Errorf("%s would have %d bytes, more than %d: damaged?", what, n, most)
	}
	if err != nil {
		return "", err
	}
	const together = 1 << 16 // vocabularies have some hundred thousand short ones
	if n > len(p.strings) {
		if p.strings, err = hostmem.Make(max(n, int(min(together, p.size-p.at))), 1); err != nil {
			return "", err
		}
	}
	b := p.strings[:n]
	p.strings = p.strings[n:]
	return unsafe.String(unsafe.SliceData(b), n), p.read(b)
}

// start reads magic number and version, and returns the numbers of tensors and of metadata.
func (p *parser) start() (tensors, pairs int, err error) {
	var head [8]byte
	if p.size < int64(len(head)) {
		return 0, 0, fmt.Errorf("%d bytes are too few for a GGUF file", p.size)
	}
	if err := p.read(head[:]); err != nil {
		return 0, 0, err
	}
	version := binary.LittleEndian.Uint32(head[4:])
	switch {
	case string(head[:4]) != magic:
		return 0, 0, fmt.Errorf("it begins with %q and not with %q: not a GGUF file", head[:4], magic)
	case version&0xffff == 0 && version != 0:
		return 0, 0, errors.New("its numbers are big-endian, which is not supported: convert it by llama.cpp's gguf_convert_endian.py")
	case version < 1 || version > 3:
		return 0, 0, fmt.Errorf("it is of version %d: want 1 to 3", version)
	}
	p.version, p.words = int(version), version == 1
	least := int64(8)
	if p.words {
		least = 4
	}
	if tensors, err = p.count("the tensors", 2*least+8); err != nil {
		return 0, 0, err
	}
	pairs, err = p.count("the metadata", least+5)
	return tensors, pairs, err
}

// meta reads count entries of metadata.
func (p *parser) meta(count int) (Meta, error) {
	if err := hostmem.Check(count, perPair); err != nil {
		return nil, err
	}
	var m Meta
	seen := map[string]bool{}
	for range count {
		key, err := p.text("a key of metadata", maxKey)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("its metadata has the key %q twice", key)
		}
		seen[key] = true
		kind, err := p.uint32()
		if err != nil {
			return nil, err
		}
		value, err := p.value(kind, 0)
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", key, err)
		}
		m = append(m, Pair{key, value})
	}
	return m, nil
}

// Kinds of metadata.
const (
	kindBool   = 7
	kindString = 8
	kindArray  = 9
)

// A numberKind is a kind of metadata of a fixed size.
type numberKind struct {
	size int
	one  func(b []byte) any
	list func(b []byte) any
}

func numbers[T any](one func(b []byte) T) numberKind {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return numberKind{
		size,
		func(b []byte) any { return one(b) },
		func(b []byte) any {
			list := make([]T, len(b)/size)
			for i := range list {
				list[i] = one(b[i*size:])
			}
			return list
		},
	}
}

var numberKinds = map[uint32]numberKind{
	0: numbers(func(b []byte) uint8 { return b[0] }),
	1: numbers(func(b []byte) int8 { return int8(b[0]) }),
	2: numbers(binary.LittleEndian.Uint16),
	3: numbers(func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) }),
	4: numbers(binary.LittleEndian.Uint32),
	5: numbers(func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }),
	6: numbers(func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }),

	kindBool: numbers(func(b []byte) bool { return b[0] != 0 }),

	10: numbers(binary.LittleEndian.Uint64),
	11: numbers(func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }),
	12: numbers(func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }),
}

// value reads a value; depth counts the arrays that it is in.
func (p *parser) value(kind uint32, depth int) (any, error) {
	switch kind {
	case kindString:
		return p.text("a string", math.MaxInt)
	case kindArray:
		return p.array(depth)
	}
	k, ok := numberKinds[kind]
	if !ok {
		return nil, fmt.Errorf("it is of an unknown type %d", kind)
	}
	var b [8]byte
	if err := p.read(b[:k.size]); err != nil {
		return nil, err
	}
	if kind == kindBool && b[0] > 1 {
		return nil, fmt.Errorf("a bool is %d: want 0 or 1", b[0])
	}
	return k.one(b[:]), nil
}

// array reads an array, []any if it is of arrays.
func (p *parser) array(depth int) (any, error) {
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d arrays lie in each other", maxDepth)
	}
	kind, err := p.uint32()
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindString:
		return list(p, 8, func() (string, error) { return p.text("a string", math.MaxInt) })
	case kindArray:
		return list(p, 12, func() (any, error) { return p.array(depth + 1) })
	}
	k, ok := numberKinds[kind]
	if !ok {
		return nil, fmt.Errorf("it is an array of an unknown type %d", kind)
	}
	n, err := p.count("the elements of an array", int64(k.size))
	if err != nil {
		return nil, err
	}
	b, err := hostmem.Make(n, 2*k.size) // the bytes, and the elements
	if err != nil {
		return nil, err
	}
	if err = p.read(b[:n*k.size]); err != nil {
		return nil, err
	}
	if kind == kindBool && slices.ContainsFunc(b, func(c byte) bool { return c > 1 }) {
		return nil, errors.New("an array of bools has other values than 0 and 1")
	}
	return k.list(b[:n*k.size]), nil
}

// list reads an array of elements of at least size bytes each, 4 less in version 1.
func list[T any](p *parser, size int64, read func() (T, error)) (any, error) {
	if p.words {
		size -= 4
	}
	n, err := p.count("the elements of an array", size)
	if err == nil {
		err = hostmem.Check(n, growth*int(unsafe.Sizeof(*new(T))))
	}
	if err != nil {
		return nil, err
	}
	all := make([]T, 0, min(n, 1<<18))
	for range n {
		v, err := read()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
