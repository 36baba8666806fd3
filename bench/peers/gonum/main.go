// Command gonum measures gonum. It has no elementwise operations on float32.
package main

import (
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/tensorken/tensorken/bench/peers/peer"
)

func main() {
	var works []peer.Work
	for _, n := range []int{64, 256, 512, 1024, 2048} {
		works = append(works, peer.Work{Name: "matmul/" + strconv.Itoa(n), Setup: matmul(n)})
	}
	peer.Main("gonum", "gonum.org/v1/gonum", works)
}

func matmul(n int) func(*peer.Inputs) (func(), func() []float32) {
	return func(in *peer.Inputs) (func(), func() []float32) {
		square := func(data []float32) blas32.General {
			return blas32.General{Rows: n, Cols: n, Stride: n, Data: data}
		}
		a, b := square(in.Floats(1, n*n)), square(in.Floats(1, n*n))
		var c blas32.General
		run := func() {
			c = square(make([]float32, n*n))
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
		}
		return run, func() []float32 { return c.Data }
	}
}
