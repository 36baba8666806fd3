package exec

import (
	"sync"
	"time"

	"github.com/tensorken/tensorken/internal/graph"
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

// The sizes to measure double until a kernel takes enough time to be measured well, and
// its data no longer fit into caches.
const (
	peakTime   = 10 * time.Millisecond
	peakRuns   = 3
	minVector  = 1 << 20 // elements
	maxVector  = 1 << 28
	minProduct = 1 << 8 // rows
	maxProduct = 1 << 13
)

// Peak measures the greatest speeds of d with float32, the first time that it is called;
// this takes some tenths of a second. A speed that cannot be measured is 0 until a later
// call can.
func (d *Device) Peak() Peak {
	d.peak.Lock()
	defer d.peak.Unlock()
	if d.peak.Bytes == 0 {
		d.peak.Bytes = d.peakBytes()
	}
	if d.peak.FLOPs == 0 {
		d.peak.FLOPs = d.peakFLOPs()
	}
	return d.peak.Peak
}

func (d *Device) peakBytes() (speed float64) {
	for n := minVector; n <= maxVector; n *= 2 {
		t := d.fastest([]int{n}, n, func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{0}) })
		if t == 0 {
			break
		}
		if speed = float64(4*n) / t.Seconds(); t >= peakTime { // the longest vector counts: no cache holds it
			break
		}
	}
	return speed
}

func (d *Device) peakFLOPs() (speed float64) {
	for n := minProduct; n <= maxProduct; n *= 2 {
		t := d.fastest([]int{n, n}, 2*n*n*n, square)
		if t == 0 {
			break
		}
		if speed = max(speed, float64(2*n*n*n)/t.Seconds()); t >= peakTime {
			break
		}
	}
	return speed
}

// square is the matrix product of x and x, of shape [n 1 n].
func square(x *graph.Node) *graph.Node {
	n := x.Shape[0]
	cube := []int{n, n, n}
	left := graph.Expand(graph.Reshape(x, []int{n, n, 1}), cube)
	right := graph.Expand(graph.Reshape(x, []int{1, n, n}), cube)
	return graph.Reduce(ir.Sum, graph.Binary(ir.Mul, left, right), []int{1})
}

// fastest is the shortest time of a kernel of that many operations that computes f of a
// tensor on d; 0 if it fails.
func (d *Device) fastest(shape []int, flops int, f func(x *graph.Node) *graph.Node) time.Duration {
	x := graph.Fill(ir.Float32, 1, shape)
	if Eval(d, []*graph.Node{x}) != nil {
		return 0
	}
	var shortest time.Duration
	for range 1 + peakRuns { // the first one compiles, and warms caches up
		p := StartProfile()
		err := Eval(d, []*graph.Node{f(x)})
		for _, s := range p.Stop() {
			mine := s.Device == d && s.Step.Cost().FLOPs == flops && s.Duration > 0
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
