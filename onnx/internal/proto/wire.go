package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// A parseError is the reason why a message cannot be read. Readers panic with it, and Parse returns it.
type parseError struct{ error }

func fail(format string, args ...any) { panic(&parseError{fmt.Errorf(format, args...)}) }

// window is the number of bytes that a reader holds.
const window = 1 << 16

// maxDepth is the greatest depth of messages in messages: graphs in attributes of nodes in graphs.
const maxDepth = 128

// A reader gives the bytes of a file through a window.
type reader struct {
	src   io.ReaderAt
	buf   []byte
	start int64 // of buf in the file
}

// bytes returns n ≤ window bytes, valid until the next call.
func (r *reader) bytes(at int64, n int) []byte {
	if at < r.start || at+int64(n) > r.start+int64(len(r.buf)) {
		r.buf = r.buf[:cap(r.buf)]
		got, err := r.src.ReadAt(r.buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			fail("%w", err)
		}
		r.buf, r.start = r.buf[:got], at
		if got < n {
			fail("the file has been cut short")
		}
	}
	return r.buf[at-r.start:][:n]
}

// A message is a part of a file that holds a message.
type message struct {
	r       *reader
	at, end int64
	depth   int
}

// A field of a message: its number and its value.
type field struct {
	number int
	wire   int
	value  uint64  // of a varint, fixed32 or fixed64
	body   message // of wire type bytes
}

// Wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func (m *message) varint() uint64 {
	b := m.r.bytes(m.at, int(min(binary.MaxVarintLen64, m.end-m.at)))
	v, n := binary.Uvarint(b)
	if n <= 0 {
		fail("byte %d begins no varint", m.at)
	}
	m.at += int64(n)
	return v
}

func (m *message) take(n int64) (begin int64) {
	if n < 0 || n > m.end-m.at {
		fail("byte %d: a field of %d bytes leaves its message, which has %d more", m.at, n, m.end-m.at)
	}
	begin = m.at
	m.at += n
	return begin
}

func (m *message) fixed(n int) uint64 {
	var b [8]byte
	copy(b[:], m.r.bytes(m.take(int64(n)), n))
	return binary.LittleEndian.Uint64(b[:])
}

// each calls f with each field.
func (m message) each(f func(field)) {
	if m.depth > maxDepth {
		fail("byte %d: messages are nested more than %d deep", m.at, maxDepth)
	}
	for m.at < m.end {
		begin := m.at
		tag := m.varint()
		x := field{number: int(tag >> 3), wire: int(tag & 7)}
		switch x.wire {
		case wireVarint:
			x.value = m.varint()
		case wireFixed64:
			x.value = m.fixed(8)
		case wireFixed32:
			x.value = m.fixed(4)
		case wireBytes:
			n := m.varint()
			if n > math.MaxInt64 {
				n = math.MaxInt64
			}
			at := m.take(int64(n))
			x.body = message{m.r, at, m.at, m.depth + 1}
		default:
			fail("byte %d begins no field of a protobuf message", begin)
		}
		f(x)
	}
}

// want fails unless the field has a wire type.
func (x field) want(wire int) {
	if x.wire != wire {
		fail("field %d has wire type %d, want %d", x.number, x.wire, wire)
	}
}

func (x field) int() int64 {
	x.want(wireVarint)
	return int64(x.value)
}

func (x field) float() float32 {
	x.want(wireFixed32)
	return math.Float32frombits(uint32(x.value))
}

func (x field) text() string {
	s := x.section()
	b, err := hostmem.Make(int(min(s.Len, math.MaxInt)), 1)
	if err != nil {
		fail("%w", err)
	}
	s.read(b)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func (x field) section() Section {
	x.want(wireBytes)
	return Section{x.body.r.src, x.body.at, x.body.end - x.body.at}
}

func (x field) sectionPointer() *Section {
	s := alloc[Section]()
	*s = x.section()
	return s
}

// alloc returns a new value, if there is memory: an empty message of two bytes makes a struct of many.
func alloc[T any]() *T {
	x := new(T)
	if err := hostmem.Check(1, int(unsafe.Sizeof(*x))); err != nil {
		fail("%w", err)
	}
	return x
}

// add appends a value to a list, as alloc.
func add[T any](list []T, x T) []T {
	list, err := hostmem.Grow(list, 1)
	if err != nil {
		fail("%w", err)
	}
	return append(list, x)
}

// ints appends the numbers of a repeated field, packed or not.
func (x field) ints(to []int64) []int64 {
	if x.wire == wireVarint {
		return add(to, int64(x.value))
	}
	x.want(wireBytes)
	for m := x.body; m.at < m.end; {
		to = add(to, int64(m.varint()))
	}
	return to
}

// floats is ints of floats.
func (x field) floats(to []float32) []float32 {
	if x.wire == wireFixed32 {
		return add(to, x.float())
	}
	x.want(wireBytes)
	for m := x.body; m.at < m.end; {
		to = add(to, math.Float32frombits(uint32(m.fixed(4))))
	}
	return to
}

// A Section is a part of a file, which is read when it is used.
type Section struct {
	src     io.ReaderAt
	at, Len int64
}

// Place returns the reader and the offset of the bytes.
func (s Section) Place() (io.ReaderAt, int64) { return s.src, s.at }

// Read fills b, which has Len bytes.
func (s Section) Read(b []byte) error {
	n, err := s.src.ReadAt(b, s.at)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("%d bytes at %d could not be read: %w", len(b), s.at, err)
}

func (s Section) read(b []byte) {
	if err := s.Read(b); err != nil {
		fail("%w", err)
	}
}

// varints calls f with the varints of the section.
func (s Section) varints(f func(uint64)) {
	m := message{r: &reader{src: s.src, buf: make([]byte, 0, min(window, s.Len+binary.MaxVarintLen64))}, at: s.at, end: s.at + s.Len}
	for m.at < m.end {
		f(m.varint())
	}
}
