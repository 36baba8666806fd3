package dist_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// local runs f on n ranks and fails the test with its error.
func local(t *testing.T, n int, f func(g *dist.Group) error) {
	t.Helper()
	if err := dist.Local(n, f); err != nil {
		t.Fatal(err)
	}
}

// equal returns an error unless a tensor has these elements.
func equal(what string, x tensor.Tensor, want ...float64) error {
	got, err := tensor.Data[float64](x.Cast(tensor.Float64).Reshape(-1))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s = %v, want %v", what, got, want)
	}
	return nil
}

func TestCollectives(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int8, tensor.Uint32, tensor.Int32, tensor.Int64} {
			local(t, n, func(g *dist.Group) error {
				r := float64(g.Rank())
				x := tensor.New([]float64{r, 1, 3 * r, 2 * r}).Cast(d)
				all := float64(n * (n - 1) / 2)
				rows := tensor.Arange(2*n).Cast(d).Reshape(n, 2)
				var gathered []float64
				for i := range n {
					gathered = append(gathered, float64(i), 1)
				}
				return errors.Join(
					equal("the sum", dist.AllReduce(g, x, dist.Sum), all, float64(n), 3*all, 2*all),
					equal("the maximum", dist.AllReduce(g, x, dist.Max), float64(n-1), 1, 3*float64(n-1), 2*float64(n-1)),
					equal("the part", dist.ReduceScatter(g, rows, dist.Sum), 2*r*float64(n), (2*r+1)*float64(n)),
					equal("the gathered", dist.AllGather(g, x.Slice(0, 0, 2)), gathered...),
					equal("the last rank's", dist.Broadcast(g, x, n-1), float64(n-1), 1, 3*float64(n-1), 2*float64(n-1)),
					g.Barrier(),
				)
			})
		}
	}
}

// The mean of several tensors of several types, one of which is empty, has their shapes and types.
func TestMean(t *testing.T) {
	local(t, 4, func(g *dist.Group) error {
		r := float64(g.Rank())
		in := []tensor.Tensor{
			tensor.New([]float32{float32(r), 8}), tensor.New([]float64{r, 1e300}).Reshape(2, 1), tensor.New([]float32{}),
			tensor.New([]float32{4}).Cast(tensor.BFloat16), tensor.New([]float32{float32(r) * 2}).Reshape(),
		}
		out := g.Mean(in...)
		for i, x := range out {
			if x.DType() != in[i].DType() || !reflect.DeepEqual(x.Shape(), in[i].Shape()) {
				return fmt.Errorf("mean %d is %v %v of %v %v", i, x.DType(), x.Shape(), in[i].DType(), in[i].Shape())
			}
		}
		return errors.Join(equal("0", out[0], 1.5, 8), equal("1", out[1], 1.5, 1e300), equal("2", out[2], []float64{}...), equal("3", out[3], 4), equal("4", out[4], 3))
	})
}

// Derivatives are of the sum of all ranks' losses, in both modes, and collectives work under Vmap and Jit.
func TestDerivatives(t *testing.T) {
	const n = 3
	local(t, n, func(g *dist.Group) error {
		r := float64(g.Rank())
		w := tensor.New([]float64{1, 2, r + 1})
		x := tensor.New([]float64{r, 3, -r})
		sum := 1.0 + 2 + 3
		loss := func(f func(x tensor.Tensor) tensor.Tensor) func(tensor.Tensor) tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x).Mul(w).Sum() })
		}
		at := func(is bool, v float64) float64 {
			if is {
				return v
			}
			return 0
		}
		part := grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return dist.ReduceScatter(g, x, dist.Sum).Mul(r + 1).Sum()
		})
		gathered := grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return dist.AllGather(g, x).Mul(tensor.Arange(3 * n).Mul(r + 1)).Sum()
		})
		_, tangent := grad.JVP(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x.Square(), dist.Sum) }, x, tensor.Ones(3).Cast(tensor.Float64))
		batched := grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return dist.AllGather(g, x) })(tensor.Stack(0, x, x.Neg()))
		both := []float64{0, 3, 0, 1, 3, -1, 2, 3, -2, 0, -3, 0, -1, -3, 1, -2, -3, 2}
		for i := range both {
			both[i] += 0 // -0 is 0
		}
		jitted := grad.Jit(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x.Mul(2), dist.Mean) })
		err := errors.Join(
			equal("d Sum", loss(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Sum) })(x), 3, 6, sum),
			equal("d Mean", loss(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Mean) })(x), 1, 2, sum/n),
			equal("d Max", loss(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Max) })(x), at(g.Rank() == 2, 3), 2, at(g.Rank() == 0, sum)),
			equal("d Broadcast", loss(func(x tensor.Tensor) tensor.Tensor { return dist.Broadcast(g, x, 1) })(x), at(g.Rank() == 1, 3), at(g.Rank() == 1, 6), at(g.Rank() == 1, sum)),
			equal("d ReduceScatter", part(x), 1, 2, 3),
			equal("d AllGather", gathered(x), sum*3*r, sum*(3*r+1), sum*(3*r+2)),
			equal("the tangent", tangent, 2*3, 6*3, -2*3),
			equal("a batch", batched.Add(0), both...),
		)
		for i := range 3 {
			err = errors.Join(err, equal("recorded", jitted(x.Add(i)), 2+2*float64(i), 6+2*float64(i), -2+2*float64(i)))
		}
		return err
	})
}

// Bits depend on the number of ranks alone, and are equal on all ranks.
func TestBits(t *testing.T) {
	for _, n := range []int{2, 4} {
		var first atomic.Pointer[[]float32]
		for range 3 {
			local(t, n, func(g *dist.Group) error {
				x := tensor.NewRNG(uint64(g.Rank())).Normal(1001)
				got, err := tensor.Data[float32](dist.AllReduce(g, x, dist.Mean))
				if err != nil {
					return err
				}
				first.CompareAndSwap(nil, &got)
				for i, v := range *first.Load() {
					if math.Float32bits(v) != math.Float32bits(got[i]) {
						return fmt.Errorf("element %d is %v, and was %v", i, got[i], v)
					}
				}
				return nil
			})
		}
	}
}

// Other collectives, shapes, types and recorded graphs are errors on all ranks, which name the ranks.
func TestDiffer(t *testing.T) {
	x := tensor.New([]float32{1, 2})
	for name, f := range map[string]func(g *dist.Group, odd bool) tensor.Tensor{
		"shape": func(g *dist.Group, odd bool) tensor.Tensor {
			if odd {
				return dist.AllReduce(g, x.Sum(), dist.Sum)
			}
			return dist.AllReduce(g, x, dist.Sum)
		},
		"collective": func(g *dist.Group, odd bool) tensor.Tensor {
			if odd {
				return dist.AllReduce(g, x, dist.Max)
			}
			return dist.AllReduce(g, x, dist.Sum)
		},
		"recorded graph": func(g *dist.Group, odd bool) tensor.Tensor {
			return grad.Jit(func(x tensor.Tensor) tensor.Tensor {
				if odd {
					x = x.Exp()
				}
				return dist.AllReduce(g, x.Exp(), dist.Sum)
			})(x)
		},
		"axis": func(g *dist.Group, odd bool) tensor.Tensor {
			return grad.Jit(func(x tensor.Tensor) tensor.Tensor {
				axis := 0
				if odd {
					axis = 1
				}
				return dist.AllReduce(g, x.Flip(axis), dist.Sum)
			})(tensor.New([]float32{1, 2, 3, 4}).Reshape(2, 2))
		},
	} {
		var ended atomic.Int64
		err := dist.Local(4, func(g *dist.Group) error {
			err := tensor.Try(func() { f(g, g.Rank() == 2).Sum().Item() })
			if err != nil {
				ended.Add(1)
			}
			return err
		})
		var failure *dist.Failure
		if !errors.As(err, &failure) || failure.Rank != 2 && failure.Rank != 3 || !strings.Contains(failure.Cause, "graph differs") || ended.Load() != 4 {
			t.Errorf("%s: %d of 4 ranks failed: %v", name, ended.Load(), err)
		}
	}
}

// A rank that ends, panics or fails makes the others fail.
func TestLocalFailure(t *testing.T) {
	for name, c := range map[string]struct {
		f    func() error
		want string
	}{
		"error":  {func() error { return errors.New("no data") }, "no data"},
		"panic":  {func() error { panic("oops") }, "oops"},
		"return": {func() error { return nil }, "closed its group after 1 collectives"},
	} {
		err := dist.Local(3, func(g *dist.Group) error {
			if err := g.Barrier(); err != nil {
				return err
			}
			if g.Rank() == 1 {
				return c.f()
			}
			_, err := dist.AllReduce(g, tensor.New([]float32{1}), dist.Sum).Bytes()
			var failure *dist.Failure
			if !errors.As(err, &failure) || failure.Rank != 1 || !strings.Contains(failure.Cause, c.want) {
				t.Errorf("%s: rank %d: %v, want rank 1 and %q", name, g.Rank(), err, c.want)
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Local returned %v, want %q", name, err, c.want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n/") {
			t.Errorf("%s: the error has a stack: %v", name, err)
		}
	}
}

// A call that is wrong is an error that names the collective.
func TestMisuse(t *testing.T) {
	bools, ints, floats := tensor.OnesOf(tensor.Bool, 4), tensor.New([]int32{1, 2, 3, 4}), tensor.New([]float32{1, 2, 3})
	err := dist.Local(2, func(g *dist.Group) error {
		for _, c := range []struct {
			f    func()
			want string
		}{
			{func() { dist.AllReduce(g, bools, dist.Sum) }, "dist.AllReduce of [true true true true]: bools have no sum"},
			{func() { dist.ReduceScatter(g, bools, dist.Sum) }, "dist.ReduceScatter of [true true true true]: bools have no sum"},
			{func() { dist.ReduceScatter(g, floats, dist.Sum) }, "dist.ReduceScatter of [1 2 3]: axis 0 is not a multiple of 2"},
			{func() { dist.AllReduce(g, ints, dist.Mean) }, "dist.AllReduce of [1 2 3 4]: the Mean of integers"},
			{func() { dist.Broadcast(g, ints, 2) }, "dist.Broadcast of [1 2 3 4]: the root is 2"},
			{func() { dist.AllReduce(nil, ints, dist.Sum) }, "dist.AllReduce: the Group is nil"},
		} {
			if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
