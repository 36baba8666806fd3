package drivertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// outputs computes several tensors in one plan.
func (s *suite) outputs() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for _, dims := range shapes {
			var roots []*graph.Node
			for i := range 12 {
				roots = append(roots, graph.Binary(ir.Max, s.some(i, d, dims), s.some(3*i, d, dims)))
			}
			s.check(fmt.Sprint("siblings of ", dims), roots...)
			if len(dims) == 0 {
				continue
			}
			x := s.tensor(d, dims...)
			y := graph.Binary(ir.Max, x, s.tensor(d, dims...))
			most := graph.Reduce(ir.ReduceMax, y, []int{0})
			s.check(fmt.Sprint("a row and what it is made of ", dims), y, most, graph.Binary(ir.Eq, y, graph.Expand(most, dims)), graph.Flip(y, []int{0}))
			s.check(fmt.Sprint("parts ", dims), graph.Cat(0, []*graph.Node{y, x, y}), y, graph.Cat(len(dims)-1, []*graph.Node{x, x}))
		}
	})
	s.each([]ir.DType{ir.Float32}, func(s *suite, d ir.DType) { // an optimizer's step
		n := []int{5, 40}
		p, g, m, v := s.tensor(d, n...), s.tensor(d, n...), s.tensor(d, n...), s.tensor(d, n...)
		mix := func(a, b *graph.Node, t float64) *graph.Node {
			return graph.Binary(ir.Add, graph.Binary(ir.Mul, a, graph.Scalar(d, ir.Float(d, t), n)), graph.Binary(ir.Mul, b, graph.Scalar(d, ir.Float(d, 1-t), n)))
		}
		m2 := mix(m, g, 0.9)
		v2 := mix(graph.Binary(ir.Mul, v, v), graph.Binary(ir.Mul, g, g), 0.99)
		step := graph.Binary(ir.Div, m2, graph.Binary(ir.Add, graph.Unary(ir.Sqrt, v2), graph.Fill(d, 0.1, n)))
		s.check("Adam", graph.Binary(ir.Sub, p, step), m2, v2)
	})
}

// sameBits runs a program twice: sums must not depend on timing.
func (s *suite) sameBits() {
	s.each([]ir.DType{ir.Float32}, func(s *suite, d ir.DType) {
		x, y := s.long(ir.Sum, d, []int{300, 500}), s.long(ir.Sum, d, []int{70, 500})
		for _, n := range []*graph.Node{
			graph.Reduce(ir.Sum, x, []int{0, 1}),
			graph.Reduce(ir.Sum, x, []int{0}),
			graph.Reduce(ir.Sum, x, []int{1}),
			product(graph.Reshape(x, []int{1, 300, 500}), graph.Reshape(y, []int{1, 70, 500})),
		} {
			var first []byte
			for i := range 5 {
				c := copied([]*graph.Node{n}, nil)[n]
				got, err := exec.Read(s.dev, c)
				if err != nil {
					s.Fatal(err)
				}
				if i == 0 {
					first = got
				} else if !bytes.Equal(got, first) {
					s.Errorf("%v of %v: run %d gives other bits than the first", n.Op, n.Shape, i+1)
				}
			}
			if _, ok := s.drv.(*Reference); ok {
				return // slow, and surely right
			}
		}
	})
}

// goroutines computes graphs that share tensors from several goroutines.
func (s *suite) goroutines() {
	types := s.drv.Limits().Types
	shared := generate(rand.New(rand.NewPCG(3, 4)), types)
	common := copied(shared.roots(), nil)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for k := range 20 {
				p := generate(rand.New(rand.NewPCG(uint64(i), uint64(k))), types)
				if err := p.run(s.dev); err != nil {
					s.Errorf("goroutine %d, graph %d: %v\n%v", i, k, err, p)
				}
				for _, r := range shared.roots() {
					got, err := exec.Read(s.dev, common[r])
					if err == nil {
						err = mismatch(shared.known[r], decode(r.DType, got), false)
					}
					if err != nil {
						s.Errorf("goroutine %d: %v\n%v", i, err, shared)
					}
				}
			}
		})
	}
	wait.Wait()
}
