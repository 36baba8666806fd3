package dist

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A digest identifies a graph, or nothing if it is zero.
type digest [16]byte

// Ranks compare their calls of collectives.
type call struct {
	text     string // the name, shapes and types
	graph    digest // of the recorded graph of the operands
	header   []byte
	compared bool // once, on a device
}

// headerSize is the size of a call on the wire: the number, a digest of the text, the digest of the
// graph, the way and the start of the text, for errors.
const headerSize = 256

// A way is where a collective is computed.
type way byte

const (
	onHost way = iota
	onDevice
)

// String completes "its tensor is".
func (w way) String() string {
	return [...]string{"on the host", "on a device with collectives of its own"}[w&1]
}

// setHeader sets the header of collective number.
func (c *call) setHeader(number uint64, w way) {
	if c.header == nil {
		text := sha256.Sum256([]byte(c.text))
		c.header = make([]byte, headerSize)
		copy(c.header[8:], text[:16])
		copy(c.header[24:], c.graph[:])
		c.header[41] = byte(copy(c.header[42:], c.text))
	}
	binary.LittleEndian.PutUint64(c.header, number)
	c.header[40] = byte(w)
}

// compare sends the call to the next rank and compares it with the call of the rank before. It returns the
// difference.
func (c *call) compare(r *ring, number uint64) (differs string, err error) {
	c.setHeader(number, onHost)
	var in [headerSize]byte
	if err := r.exchange(c.header, in[:]); err != nil {
		return "", err
	}
	return c.differs(r, in[:], number, onHost), nil
}

// receive compares the call with the one of the rank before.
func (c *call) receive(r *ring, number uint64, w way) (differs string, err error) {
	var in [headerSize]byte
	if err := r.exchange(nil, in[:]); err != nil {
		return "", err
	}
	return c.differs(r, in[:], number, w), nil
}

// differs returns the difference from the header of the rank before, or "".
func (c *call) differs(r *ring, in []byte, number uint64, w way) string {
	before := (r.rank + r.size - 1) % r.size
	text := string(in[42 : 42+min(int(in[41]), headerSize-42)])
	theirs, ours := digest(in[24:40]), c.graph
	switch {
	case binary.LittleEndian.Uint64(in) != number || [16]byte(in[8:24]) != [16]byte(c.header[8:24]):
		return fmt.Sprintf("its graph differs: collective %d is %s here and %q on rank %d", number, c.text, text, before)
	case theirs != ours && theirs != digest{} && ours != digest{}:
		return fmt.Sprintf("its graph differs: what is computed before %s, collective %d, is not the same here and on rank %d (digests %x and %x)",
			c.text, number, before, ours[:4], theirs[:4])
	case way(in[40]) != w:
		return fmt.Sprintf("the tensor of %s, collective %d, is %v here and %v on rank %d: move it, by Tensor.To", c.text, number, w, way(in[40]), before)
	}
	return ""
}

// digestOf returns the digest of the recorded graph of nodes: of the operations that depend on
// placeholders, their types and axes. Lengths do not count, since parts of a last batch differ, nor
// constants, which one rank may have computed, nor the starts of slices, which may depend on the rank. It
// is zero outside of a recording, where a rank may have computed more than another.
func digestOf(roots []*graph.Node) (d digest) {
	recorded := false
	for _, n := range roots {
		of, _ := n.PlaceholdersOf()
		recorded = recorded || of != ""
	}
	if !recorded {
		return d
	}
	h := sha256.New()
	number := map[*graph.Node]uint64{}
	graph.Walk(roots, func(n *graph.Node) (graph.Operands, bool) {
		_, seen := number[n]
		src, v := n.State()
		of, _ := n.PlaceholdersOf()
		return src, !seen && v == nil && of != ""
	}, func(n *graph.Node, src graph.Operands) {
		if _, seen := number[n]; seen {
			return
		}
		number[n] = uint64(len(number)) + 1
		writeNumbers(h, uint64(n.Op), uint64(n.DType), uint64(n.Kind), uint64(len(n.Shape)), uint64(src.Len()))
		for i := range src.Len() {
			writeNumbers(h, number[src.At(i)])
		}
		for _, axis := range axesOf(n) {
			writeNumbers(h, uint64(axis))
		}
	})
	copy(d[:], h.Sum(nil))
	return d
}

// axesOf returns the axes that are attributes of an operation.
func axesOf(n *graph.Node) []int {
	switch c := n.Op.Class(); {
	case n.Op == ir.Permute, n.Op == ir.Flip, n.Op == ir.Cat, c == ir.Reduction:
		return n.Ints
	case c == ir.Indexed, c == ir.Ordered:
		return n.Ints[:1]
	}
	return nil
}

func writeNumbers(h hash.Hash, numbers ...uint64) {
	var b []byte
	for _, x := range numbers {
		b = binary.AppendUvarint(b, x)
	}
	h.Write(b)
}
