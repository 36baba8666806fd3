package optim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

func TestZDon(t *testing.T) {
	compile.Verify()
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	count, _ := strconv.Atoi(os.Getenv("COUNT"))
	drv := ahead{cpu.New(cpu.Options{})}
	fake := tensor.NewDevice(drv)
	gone := 0
	for k := range count {
		var want [][]float64
		for mode := range 3 {
			r := rand.New(rand.NewPCG(uint64(seed+k), 3))
			rng := tensor.NewRNG(uint64(k))
			d := tensor.CPU()
			if mode == 2 {
				d = fake
			}
			n := 8 + 8*r.IntN(2)
			var nodes []tensor.Tensor
			leaves := 2 + r.IntN(4)
			for range leaves {
				nodes = append(nodes, rng.Normal(n, n).To(d).Keep())
			}
			idx := rng.Ints(n, n).To(d).Keep()
			if err := tensor.Eval(nodes, idx); err != nil {
				t.Fatal(err)
			}
			text := ""
			for range 4 + r.IntN(12) {
				pick := func() (tensor.Tensor, int) { // leaves often
					i := r.IntN(len(nodes))
					if r.IntN(3) == 0 {
						i = r.IntN(leaves)
					}
					return nodes[i], i
				}
				a, i := pick()
				b, j := pick()
				op := r.IntN(9)
				var x tensor.Tensor
				switch op {
				case 0:
					x = a.Add(b).Mul(0.5)
				case 1:
					x = a.Sub(b.Mul(0.1))
				case 2:
					x = a.MatMul(b).Mul(0.1)
				case 3:
					x = a.Sub(b.Transpose(0, 1).MatMul(a).Mul(0.01))
				case 4:
					x = a.Softmax(1).Add(b)
				case 5:
					x = a.Transpose(0, 1).Mul(b).Tanh()
				case 6:
					x = a.Take(0, idx).Add(b)
				case 7:
					x = a.Tanh()
				case 8:
					x = a.Sub(b.Sum(0).Mul(0.01)).Tanh()
				}
				text += fmt.Sprintf("%d=op%d(%d,%d) ", len(nodes), op, i, j)
				nodes = append(nodes, x)
			}
			var outs []tensor.Tensor
			for range 1 + r.IntN(4) {
				i := leaves + r.IntN(len(nodes)-leaves)
				outs = append(outs, nodes[i])
				text += fmt.Sprint("out ", i, " ")
			}
			if mode > 0 {
				for i := range leaves {
					if r.IntN(4) > 0 {
						tensor.Donate(nodes[i])
						text += fmt.Sprint("don ", i, " ")
					}
				}
			}
			if err := tensor.Eval(outs); err != nil {
				t.Fatalf("%d: %v", seed+k, err)
			}
			for i, o := range outs {
				v, err := tensor.Data[float64](o.Cast(tensor.Float64))
				if err != nil {
					t.Fatalf("%d: %v", seed+k, err)
				}
				if mode == 0 {
					want = append(want, v)
					continue
				}
				for e, x := range v {
					if !(math.Abs(x-want[i][e]) <= 1e-3*(1+math.Abs(want[i][e]))) {
						t.Fatalf("seed %d mode %d out %d [%d] = %v, want %v\n%s", seed+k, mode, i, e, x, want[i][e], text)
					}
				}
			}
			_ = gone
		}
	}
	t.Log("late", compile.LateCount)
}
