package exec

import (
	"sync"
	"time"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/ir"
)

// A Peak is the greatest speed of a device that was measured.
type Peak struct {
	Bytes float64 // a second, read by a sum of a long vector
	FLOPs float64 // a second, of a product of square matrices
}

// peak is a device's Peak, as far as it is measured.
type peak struct {
	sync.Mutex
	Peak
}

// A workload is a computation whose speed is a peak. Its size n doubles until a kernel takes enough time to be
// measured well, and its data no longer fit into caches.
type workload struct {
	least, most int
	shape       func(n int) []int // of the operand
	flops       func(n int) int
	compute     func(x *graph.Node) *graph.Node
}

const (
	peakTime = 10 * time.Millisecond
	peakRuns = 3
)

var (
	sumOfVector = workload{1 << 20, 1 << 28,
		func(n int) []int { return []int{n} },
		func(n int) int { return n },
		func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{0}) }}
	squareOfMatrix = workload{1 << 8, 1 << 13,
		func(n int) []int { return []int{n, n} },
		func(n int) int { return 2 * n * n * n },
		square}
)

// Peak measures the greatest speeds of d with float32, the first time that it is called;
// this takes some tenths of a second. A speed that cannot be measured is 0 until a later
// call can.
func (d *Device) Peak() Peak {
	p := &d.peak
	p.Lock()
	defer p.Unlock()
	if p.Bytes == 0 {
		sumOfVector.measure(d, func(n int, t time.Duration) {
			p.Bytes = float64(4*n) / t.Seconds() // the longest vector counts: no cache holds it
		})
	}
	if p.FLOPs == 0 {
		squareOfMatrix.measure(d, func(n int, t time.Duration) {
			p.FLOPs = max(p.FLOPs, float64(squareOfMatrix.flops(n))/t.Seconds())
		})
	}
	return p.Peak
}

// measure calls note with the time of each size.
func (w workload) measure(d *Device, note func(n int, t time.Duration)) {
	var t time.Duration
	for n := w.least; n <= w.most && t < peakTime; n *= 2 {
		if t = w.fastest(d, n); t == 0 {
			return
		}
		note(n, t)
	}
}

// square is the matrix product of x and x, of shape [n 1 n].
func square(x *graph.Node) *graph.Node {
	n := x.Shape[0]
	cube := []int{n, n, n}
	left := graph.Expand(graph.Reshape(x, []int{n, n, 1}), cube)
	right := graph.Expand(graph.Reshape(x, []int{1, n, n}), cube)
	return graph.Reduce(ir.Sum, graph.Binary(ir.Mul, left, right), []int{1})
}

// fastest is the shortest time on d of the kernel that has all operations; 0 if it fails.
func (w workload) fastest(d *Device, n int) time.Duration {
	x := graph.Fill(ir.Float32, 1, w.shape(n))
	if Eval(d, []*graph.Node{x}) != nil {
		return 0
	}
	var shortest time.Duration
	for range 1 + peakRuns { // the first one compiles, and warms caches up
		p := profile.Start()
		err := Eval(d, []*graph.Node{w.compute(x)})
		for _, s := range p.Stop() {
			mine := s.Device == d && s.Step.Cost().FLOPs == w.flops(n) && s.Duration > 0
			if mine && (shortest == 0 || s.Duration < shortest) {
				shortest = s.Duration
			}
		}
		if err != nil {
			return 0
		}
	}
	return shortest
}
