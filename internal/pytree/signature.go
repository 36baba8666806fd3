package pytree

import (
	"bytes"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// A Signature has all that a function can read of a tree besides the elements of its leaves.
// It is a copy: later changes of the tree do not change it.
//
// The leaves that [Rebuild] replaces are left out, whatever their type's fields hold. Numbers
// count by their bits, so that 0 and -0 differ and a NaN equals itself; strings, slices, arrays,
// maps and values behind pointers count by their contents, exported or not. Pointers that
// Rebuild replaces count by which of them are the same. Pointers that it keeps, functions,
// channels and leaves behind a tag "-" or in a map's key count by their addresses too.
type Signature struct {
	bits  []byte           // numbers, strings, lengths, and which pointers are the same
	refs  []unsafe.Pointer // values that count by their addresses; held, so that no other value gets those
	funcs []unsafe.Pointer
	kept  []unsafe.Pointer // slices and maps in unexported fields, which a rebuilt tree shares
	// opaque says that values in the tree may change unseen.
	opaque bool

	made *signing // by Borrow
}

// Equal reports whether the trees of two signatures, of one type and one Signer, are equal.
func (s *Signature) Equal(o *Signature) bool {
	return bytes.Equal(s.bits, o.bits) && slices.Equal(s.refs, o.refs) && slices.Equal(s.funcs, o.funcs) && s.opaque == o.opaque
}

// Keeps reports whether a rebuilt tree shares slices or maps with the tree.
func (s *Signature) Keeps() bool { return len(s.kept) > 0 }

// KeepsEqual reports whether the slices and maps that rebuilt trees would share with two equal
// trees are the same ones.
func (s *Signature) KeepsEqual(o *Signature) bool { return slices.Equal(s.kept, o.kept) }

// Opaque reports whether something in the tree may change while its signature stays the same:
// variables that a function captures, values behind a channel, an unsafe.Pointer or a pointer
// to a struct with a mutex or atomics, or all that comes after maxBits bytes.
func (s *Signature) Opaque() bool { return s.opaque || slices.ContainsFunc(s.funcs, Captures) }

// maxBits is the length of a signature, in bytes. A longer one is cut, and opaque.
const maxBits = 16 << 20

var bss byte // at the end of the program's data

// Captures reports whether a function value captures variables. Without any it is an object of
// the program's read-only data, after the types and before the variables; otherwise it is
// allocated. A function that is mistaken for one that captures is only traced more often.
func Captures(f unsafe.Pointer) bool {
	types := reflect.ValueOf(reflect.TypeFor[bool]()).UnsafePointer()
	return f != nil && (uintptr(f) < uintptr(types) || uintptr(f) > uintptr(unsafe.Pointer(&bss)))
}

// A LeafType is a type of leaves.
type LeafType struct {
	typ reflect.Type
	has func(p *layout, v reflect.Value) bool // whether there is a leaf behind a pointer
}

// LeafTypeFor returns the LeafType of L.
func LeafTypeFor[L any]() LeafType {
	return LeafType{reflect.TypeFor[L](), func(p *layout, v reflect.Value) bool {
		has, err := newWalker[L](nil).hasLeaf(p, v)
		return has || err != nil
	}}
}

// A Signer makes signatures of trees with leaves of some types. Any number of goroutines may
// use it.
type Signer struct {
	leaves   []LeafType
	mu       sync.Mutex // held while programs are made
	programs sync.Map   // of programKey to *program
}

// NewSigner returns a Signer for leaves of some types.
func NewSigner(leaves ...LeafType) *Signer { return &Signer{leaves: leaves} }

// Sign returns the signature of the tree that p points to.
func (s *Signer) Sign(p any) *Signature {
	w := &signing{signer: s, Signature: Signature{bits: make([]byte, 0, 256)}}
	v := reflect.ValueOf(p)
	s.program(v.Type().Elem(), owned).do(w, v.UnsafePointer())
	return &w.Signature
}

// Borrow is Sign in memory that Return makes available for other signatures.
func (s *Signer) Borrow(p any) *Signature {
	w := borrowed.Get().(*signing)
	w.signer, w.made = s, w
	v := reflect.ValueOf(p)
	s.program(v.Type().Elem(), owned).do(w, v.UnsafePointer())
	return &w.Signature
}

var borrowed = sync.Pool{New: func() any { return new(signing) }}

// Return ends the use of a borrowed signature.
func (s *Signature) Return() {
	w := s.made
	for _, list := range []*[]unsafe.Pointer{&w.refs, &w.funcs, &w.kept} {
		clear(*list)
		*list = (*list)[:0]
	}
	clear(w.seen)
	w.bits, w.opaque, w.full, w.depth = w.bits[:0], false, false, 0
	if cap(w.bits) <= maxBorrowed {
		borrowed.Put(w)
	}
}

// maxBorrowed is the length of the longest signature whose memory is used again.
const maxBorrowed = 64 << 10

// Clone returns a copy of a borrowed signature.
func (s *Signature) Clone() *Signature {
	return &Signature{bits: slices.Clone(s.bits), refs: slices.Clone(s.refs), funcs: slices.Clone(s.funcs), kept: slices.Clone(s.kept), opaque: s.opaque}
}

// A region says how Rebuild treats values, and so which of their parts a function can read.
type region uint8

const (
	owned   region = iota // copied, with other leaves
	kept                  // not copied: pointers and leaves count by their addresses too
	shallow               // pointers, slices, maps and leaves count by their addresses alone
)

type programKey struct {
	typ reflect.Type
	in  region
}

// A program signs values of a type in a region.
type program struct {
	size  uintptr // of a value
	plain bool    // all of its memory counts, and nothing else
	void  bool    // nothing of it counts
	run   func(w *signing, p unsafe.Pointer)
}

func (g *program) do(w *signing, p unsafe.Pointer) {
	switch {
	case g.plain:
		w.memory(p, g.size)
	case g.run != nil && !w.full:
		if w.depth++; w.depth > maxDepth {
			w.cut()
			return
		}
		g.run(w, p)
		w.depth--
	}
}

// A signing is a Signature that is being made.
type signing struct {
	Signature
	signer *Signer
	seen   map[place]uint64 // the number of a pointer
	depth  int
	full   bool
}

// A place is a pointer in a region.
type place struct {
	address
	in region
}

// cut ends the signature: the rest is not read.
func (w *signing) cut() { w.full, w.opaque = true, true }

// memory adds n bytes at p.
func (w *signing) memory(p unsafe.Pointer, n uintptr) {
	if w.full || n > maxBits-uintptr(len(w.bits)) {
		w.cut()
		return
	}
	w.bits = append(w.bits, unsafe.Slice((*byte)(p), n)...)
}

func (w *signing) number(n uint64) { w.memory(unsafe.Pointer(&n), unsafe.Sizeof(n)) }

func (w *signing) ref(p unsafe.Pointer) { w.refs = append(w.refs, p) }

// mark numbers a pointer; known says that it was met before.
func (w *signing) mark(at place) (n uint64, known bool) {
	if n, known = w.seen[at]; known {
		return n, true
	}
	if w.seen == nil {
		w.seen = map[place]uint64{}
	}
	n = uint64(len(w.seen))
	w.seen[at] = n
	return n, false
}

// program returns the program of a type in a region.
func (s *Signer) program(t reflect.Type, in region) *program {
	key := programKey{t, in}
	if g, ok := s.programs.Load(key); ok {
		return g.(*program)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := compiler{s, map[programKey]*program{}}
	g := c.compile(t, in)
	for key, g := range c.done {
		s.programs.LoadOrStore(key, g)
	}
	return g
}
