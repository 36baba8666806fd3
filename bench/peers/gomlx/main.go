// Command gomlx measures GoMLX with its backend in Go, without XLA.
package main

import (
	"log"
	"os"
	"strconv"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/tensorken/tensorken/bench/peers/peer"
)

func main() {
	const mega = 1 << 20
	works := []peer.Work{
		{Name: "exp/1M", Setup: work(graph.Exp, 4, []int{mega})},
		{Name: "exp/16M", Setup: work(graph.Exp, 4, []int{16 * mega})},
		{Name: "mul/1M", Setup: work(graph.Mul, 1, []int{mega}, []int{mega})},
		{Name: "mul/16M", Setup: work(graph.Mul, 1, []int{16 * mega}, []int{16 * mega})},
		{Name: "sum/1M", Setup: work(graph.ReduceAllSum, 1, []int{mega})},
		{Name: "sum/16M", Setup: work(graph.ReduceAllSum, 1, []int{16 * mega})},
		{Name: "tanh/16M", Setup: work(graph.Tanh, 4, []int{16 * mega})},
		{Name: "chain/16M", Setup: work(chain, 1, []int{16 * mega}, []int{16 * mega})},
	}
	for _, n := range []int{64, 256, 512, 1024, 2048} {
		works = append(works, peer.Work{Name: "matmul/" + strconv.Itoa(n), Setup: work(graph.MatMul, 1, []int{n, n}, []int{n, n})})
	}
	peer.Main("GoMLX", "github.com/gomlx/gomlx", works)
}

func chain(a, c *graph.Node) *graph.Node {
	return graph.MaxScalar(graph.Sub(graph.MulScalar(graph.Add(graph.Mul(a, c), a), 0.5), c), 0)
}

// work returns the setup of a function of tensors of the given shapes, uniform in ±scale.
func work(f any, scale float32, shapes ...[]int) func(*peer.Inputs) (func(), func() []float32) {
	return func(in *peer.Inputs) (func(), func() []float32) {
		exec, err := graph.NewExecAny(open(in.Threads), f)
		check(err)
		var args []any
		for _, s := range shapes {
			n := 1
			for _, length := range s {
				n *= length
			}
			args = append(args, tensors.FromFlatDataAndDimensions(in.Floats(scale, n), s...))
		}
		var result *tensors.Tensor
		run := func() {
			if result != nil { // gives its memory back to the backend
				check(result.FinalizeAll())
			}
			result, err = exec.Exec1(args...)
			check(err)
		}
		read := func() []float32 {
			data, err := tensors.CopyFlatData[float32](result)
			check(err)
			return data
		}
		return run, read
	}
}

// open opens the backend. It reports its number of threads on standard output, which is
// for results.
func open(threads int) backends.Backend {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout = os.Stderr
	b, err := simplego.New("parallelism=" + strconv.Itoa(threads))
	check(err)
	return b
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
