package dist

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A link is a rank's connections in the ring of ranks.
type link interface {
	// exchange sends out to the next rank while it fills in from the rank before. The lengths may differ.
	exchange(out, in []byte) error
	close()
}

// A ring computes collectives over a link. A rank sends 2·(n-1)/n of the data for an all-reduce, which is
// the least. Each chunk is summed in the order of the ring, so the bits depend on the number of ranks alone.
//
// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
type ring struct {
	link
	rank, size int
	scratch    []byte
	packed     []byte // of lists
}

// A combination adds n elements to acc, or takes the greater.
type combination struct {
	op    ir.Op
	dtype ir.DType
}

// check returns an error for a type that has no routine.
func (c combination) check() error {
	if simd.Binaries[c.op][c.dtype.ComputeType()].VV == nil {
		return fmt.Errorf("%v of %v is not supported", c.op, c.dtype)
	}
	return nil
}

func (c combination) add(acc, x []byte) {
	if len(acc) == 0 {
		return
	}
	if c.dtype.IsHalf() {
		c.addHalves(acc, x)
		return
	}
	p := unsafe.Pointer(&acc[0])
	simd.Binaries[c.op][c.dtype].VV(p, unsafe.Pointer(&x[0]), p, len(acc)/c.dtype.Size())
}

// addHalves is add of numbers of 16 bits: each sum is rounded.
func (c combination) addHalves(acc, x []byte) {
	var wide [2][1 << 10]float32
	for len(acc) > 0 {
		n := min(len(acc)/2, len(wide[0]))
		a, b, p := unsafe.Pointer(&wide[0]), unsafe.Pointer(&wide[1]), unsafe.Pointer(&acc[0])
		simd.Casts[c.dtype][ir.Float32](a, p, n)
		simd.Casts[c.dtype][ir.Float32](b, unsafe.Pointer(&x[0]), n)
		simd.Binaries[c.op][ir.Float32].VV(a, b, a, n)
		simd.Casts[ir.Float32][c.dtype](p, a, n)
		acc, x = acc[2*n:], x[2*n:]
	}
}

// chunk returns chunk i of data, of which each rank has one. Chunks are whole elements.
func (r *ring) chunk(data []byte, size, i int) []byte {
	i = (i%r.size + r.size) % r.size
	n := len(data) / size
	return data[n*i/r.size*size : n*(i+1)/r.size*size]
}

// allReduce combines data of all ranks, in place.
func (r *ring) allReduce(data []byte, c combination) error {
	if err := r.reduceScatter(data, c); err != nil {
		return err
	}
	return r.allGather(data, c.dtype.Size())
}

// reduceScatter combines data of all ranks in the rank's own chunk. The other chunks are undefined then.
func (r *ring) reduceScatter(data []byte, c combination) error {
	if err := c.check(); err != nil {
		return err
	}
	size := c.dtype.Size()
	for s := range r.size - 1 {
		own := r.chunk(data, size, r.rank-s-2)
		if cap(r.scratch) < len(own) {
			r.scratch = make([]byte, len(own))
		}
		in := r.scratch[:len(own)]
		if err := r.exchange(r.chunk(data, size, r.rank-s-1), in); err != nil {
			return err
		}
		c.add(own, in)
	}
	return nil
}

// allGather fills the chunks of the other ranks.
func (r *ring) allGather(data []byte, size int) error {
	for s := range r.size - 1 {
		if err := r.exchange(r.chunk(data, size, r.rank-s), r.chunk(data, size, r.rank-s-1)); err != nil {
			return err
		}
	}
	return nil
}

// pieceSize is the number of bytes that a broadcast passes on at a time.
const pieceSize = 1 << 18

// broadcast fills data with the root's: each rank passes a piece on while it receives the next.
func (r *ring) broadcast(data []byte, root int) error {
	distance := (r.rank - root + r.size) % r.size
	var last []byte
	for len(data) > 0 || last != nil {
		piece := data[:min(pieceSize, len(data))]
		data = data[len(piece):]
		out, in := last, piece
		if distance == 0 {
			out, in = piece, nil
		}
		if err := r.exchange(out, in); err != nil {
			return err
		}
		if last = nil; len(in) > 0 && distance < r.size-1 {
			last = in
		}
	}
	return nil
}
