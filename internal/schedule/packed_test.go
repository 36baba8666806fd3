package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// packedFormats are formats whose bytes are multiplied.
var packedFormats = []string{"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}

func formatOf(name string) ir.DType {
	formats := ir.Formats()
	return formats[slices.IndexFunc(formats, func(d ir.DType) bool { return d.String() == name })]
}

// randomBlocks are blocks of random codes with scales of 2⁻⁷ and 2⁻⁶.
func randomBlocks(rng *rand.Rand, d ir.DType, shape ...int) tensor.Tensor {
	f, b := d.Format(), make([]byte, d.Bytes(graph.Len(shape)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	for at := 0; at < len(b); at += f.Bytes {
		for _, factor := range []*ir.Factor{&f.Codes.Scale, f.Codes.Offset} {
			if factor != nil {
				b[at+factor.At], b[at+factor.At+1] = 0, 0x20+4*byte(rng.Uint32()&1)
			}
		}
	}
	return tensor.Internal.FromBlocks(graph.Token{}, "test", d, shape, b)
}

// errorOf is the length of the error, as a share of the length of the right results.
func errorOf(got []float32, want []float64) float64 {
	var off, all float64
	for i := range want {
		off, all = off+math.Pow(float64(got[i])-want[i], 2), all+want[i]*want[i]
	}
	return math.Sqrt(off / all)
}

// Products of few rows by packed weights are right to 15 bits of the greatest element, in one turn of threads and in
// several, with strips for all threads and for some, one step ahead and several.
func TestPackedTurns(t *testing.T) {
	for i, name := range packedFormats {
		for j, c := range []struct{ units, threads, rows, n, k, turns int }{{1, 1024, 1, 150, 1280, 3}, {1, 1024, 3, 90, 512, 2}, {132, 1024, 1, 40, 2048, 1}, {132, 1024, 1, 6, 25600, 1}, {1, 128, 1, 50, 6400, 6}} {
			if testing.Short() && i%5 != j {
				continue
			}
			target := hopper
			target.Units, target.MaxThreads = c.units, c.threads
			turns := 0
			ref := attender(t, target, func(k *ir.Kernel) {
				p, err := Compile(k, target)
				if err != nil {
					t.Fatal(err)
				}
				if f := k.Args[1].DType.Format(); f != nil || len(k.Args) > 2 && k.Args[2].DType.Format() != nil {
					turns = ir.CeilDiv(c.n, p.Passes[0].Groups()*p.Passes[0].Threads/32*(2+2*min(1, c.rows-1)))
				}
			})
			rng := rand.New(rand.NewPCG(1, uint64(j)))
			x, w := normal(rng, c.rows, c.k), randomBlocks(rng, formatOf(name), c.n, c.k)
			d := tensor.NewDevice(ref)
			got := floatsOf(t, x.To(d).MatMul(w.To(d).T()))
			want, err := tensor.Data[float64](x.Cast(tensor.Float64).MatMul(w.Cast(tensor.Float64).T()))
			if err != nil {
				t.Fatal(err)
			}
			if turns < c.turns || c.turns == 1 && turns > 1 {
				t.Errorf("%s, %v: %d turns", name, c, turns)
			}
			if e := errorOf(got, want); !(e < 1e-4) {
				t.Errorf("%s, %v: the error is %.2g of the result", name, c, e)
			}
		}
	}
}
