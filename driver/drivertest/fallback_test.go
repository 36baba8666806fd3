package drivertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// binding is a device that binds few buffers.
type binding struct {
	driver.Device
	most int // of one kernel; 0 for no limit
}

func (b binding) Limits() driver.Limits {
	l := b.Device.Limits()
	l.Bindings = b.most
	return l
}

func (b binding) Compile(k *ir.Kernel) (driver.Program, error) {
	buffers := 0
	for _, a := range k.Args {
		if a.Kind != ir.Value {
			buffers++
		}
	}
	if b.most > 0 && buffers > b.most+1 { // one may be the report of a check of another
		return nil, fmt.Errorf("a kernel of %d buffers", buffers)
	}
	return b.Device.Compile(k)
}

func hostBuffer(d ir.DType, dims []int, data []byte) *graph.Node {
	return graph.Buffer(d, dims, &graph.Value{Store: storage.FromHost(data), Strides: shape.RowMajor(dims)})
}

// The roots of random graphs are computed by a transaction on a device that runs ahead. They are
// right or, if one of them reads a bad index, they are the old values: all 0.
func TestRandomTransactions(t *testing.T) {
	compile.Verify()
	graphs := 1000
	if testing.Short() {
		graphs = 200
	}
	for i := range graphs {
		gpu := Oracle()
		gpu.Types = []ir.DType{ir.Bool, ir.Int32, ir.Uint32, ir.Float32}
		gpu.Async = true // without Bindings: it knows of no report
		dev := exec.New(binding{gpu, []int{0, 5, 6, 8}[i%4]})
		p := generate(rand.New(rand.NewPCG(1, uint64(i))), gpu.Types)
		for _, bad := range []bool{false, true} {
			if err := p.step(dev, bad); err != nil {
				t.Fatalf("graph %d, with a bad index: %v: %v\n%v", i, bad, err, p)
			}
		}
		dev.Close()
	}
}

// step computes the roots of a program and one that reads an index as a transaction.
func (p *program) step(d *exec.Device, bad bool) error {
	at := hostBuffer(ir.Int32, []int{1}, []byte{2, 0, 0, 0})
	if bad {
		at = hostBuffer(ir.Int32, []int{1}, []byte{9, 0, 0, 0})
	}
	roots := []*graph.Node{graph.Gather(hostBuffer(ir.Float32, []int{3}, make([]byte, 12)), at, 0)}
	old := []*graph.Node{hostBuffer(ir.Float32, []int{1}, make([]byte, 4))}
	of := []*graph.Node{nil} // the program's node that a root is a copy of
	copies := copied(p.roots(), nil)
	for _, r := range p.roots() {
		if copies[r].Value() != nil {
			continue
		}
		if _, err := p.known.of(r); err != nil {
			return err
		}
		roots, of = append(roots, copies[r]), append(of, r)
		old = append(old, hostBuffer(r.DType, r.Shape, make([]byte, r.Len()*r.DType.Size())))
	}
	var j storage.Journal
	err := exec.Step(d, &j, false, roots, old)
	if err != nil && bad {
		return nil // it did not run ahead: an index depends on a root
	}
	for i := 1; i < len(roots) && err == nil; i++ {
		var got []byte
		if got, err = exec.Read(d, roots[i]); err != nil {
			return err
		}
		r := of[i]
		if zeros := make([]byte, len(got)); !bad {
			err = mismatch(p.known[r], decode(r.DType, got), p.signs)
		} else if !bytes.Equal(got, zeros) {
			err = fmt.Errorf("%v of type %v and shape %v is % x, want zeros", r.Op, r.DType, r.Shape, got)
		}
	}
	return err
}
