package grad_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/hosttest"
	"github.com/tensorken/tensorken/tensor"
)

// A recurArg has the operands of a recurrence.
type recurArg struct {
	W, B, Init, X tensor.Tensor
	RNG           *tensor.RNG
}

// recur is a recurrence that reads the result of another one, and uses both of its own
// results.
func recur(a recurArg, o *grad.ScanOptions) tensor.Tensor {
	cell := func(w tensor.Tensor) func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			h := c.MatMul(w).Add(x).Add(a.B).Tanh()
			return h, h.Mul(2)
		}
	}
	first, below := grad.Scan(cell(a.W), a.Init, a.X, o)
	last, above := grad.Scan(cell(a.W.T().Mul(0.5)), first.Add(1), below.Exp(), o)
	return last.Sum().Add(above.Square().Mean()).Add(below.Sum().Mul(0.1))
}

// TestJitOfScan compares recorded functions of recurrences with the functions.
func TestJitOfScan(t *testing.T) {
	outer := tensor.NewRNG(8).Normal(3, 3)
	lazy, _ := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x), c }, tensor.Zeros(3), tensor.NewRNG(9).Normal(4, 3), nil)
	device := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer device.Close()
	gradient := func(f func(a recurArg) tensor.Tensor) func(a recurArg) tensor.Tensor {
		return func(a recurArg) tensor.Tensor {
			g := grad.Of(f)(a)
			home := tensor.Default()
			return g.W.To(home).Sum().Add(g.B.To(home).Sum()).Add(g.Init.To(home).Square().Sum()).Add(g.X.To(home).Mul(a.X).Sum())
		}
	}
	checkpoints := func(a recurArg) tensor.Tensor { return recur(a, &grad.ScanOptions{Checkpoint: 2}) }
	nested := func(a recurArg) tensor.Tensor {
		_, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			d, _ := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Mul(a.B).Add(x), c }, c, a.X, nil)
			return d.Tanh(), d
		}, a.Init, a.X, nil)
		return y.Sum()
	}
	solve := func(a recurArg) tensor.Tensor {
		c, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			c = c.MatMul(hosttest.Inv(a.W.Add(tensor.Eye(3).Mul(4)))).Add(x)
			return c, c.Mul(2)
		}, a.Init, a.X, nil)
		return c.Sum().Add(y.Square().Mean())
	}
	empty := func(a recurArg) tensor.Tensor {
		c, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.MatMul(a.W), c.Add(x) }, a.Init.Tanh(), a.X.Slice(0, 0, 0), nil)
		return c.Square().Sum().Add(y.Sum())
	}
	there := func(a recurArg) tensor.Tensor {
		_, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x).Tanh(), c.Mul(x) }, a.Init.MatMul(a.W).To(device), a.X.To(device), nil)
		return y.To(tensor.Default()).Mul(a.B).Sum()
	}
	for name, f := range map[string]func(a recurArg) tensor.Tensor{
		"checkpoints":                        checkpoints,
		"a gradient of checkpoints":          gradient(checkpoints),
		"a recurrence in the body":           nested,
		"a gradient of one in the body":      gradient(nested),
		"the host in the body":               solve,
		"a gradient of the host in the body": gradient(solve),
		"no steps":                           empty,
		"a gradient of no steps":             gradient(empty),
		"another device":                     there,
		"a gradient of another device":       gradient(there),
		"values":                             func(a recurArg) tensor.Tensor { return recur(a, nil) },
		"reverse":                            func(a recurArg) tensor.Tensor { return recur(a, &grad.ScanOptions{Reverse: true}) },
		"a gradient":                         gradient(func(a recurArg) tensor.Tensor { return recur(a, nil) }),
		"a second derivative": func(a recurArg) tensor.Tensor {
			of := func(w tensor.Tensor) tensor.Tensor { a := a; a.W = w; return recur(a, nil) }
			return grad.Of(func(w tensor.Tensor) tensor.Tensor { return grad.Of(of)(w).Square().Sum() })(a.W)
		},
		"a sum of the last carry and a constant": func(a recurArg) tensor.Tensor {
			c, _ := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x).Mul(a.B), x }, a.Init, a.X, nil)
			return c.Add(lazy)
		},
		"what the body captures": func(a recurArg) tensor.Tensor {
			_, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				return c.MatMul(outer).Tanh().Add(x), c.Sub(lazy)
			}, a.Init, a.X, nil)
			return y
		},
		"draws outside of the body": func(a recurArg) tensor.Tensor {
			if a.RNG == nil {
				a.RNG = tensor.NewRNG(1)
			}
			_, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Mul(x), c }, a.Init, a.RNG.Normal(5, 2, 3), nil)
			return y
		},
		"a draw in the body": func(a recurArg) tensor.Tensor {
			if a.RNG == nil {
				a.RNG = tensor.NewRNG(1)
			}
			_, y := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x), a.RNG.Normal(2, 3).Mul(x) }, a.Init, a.X, nil)
			return y
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			jitted := grad.Jit(func(a recurArg) tensor.Tensor { runs++; return f(a) })
			rng := tensor.NewRNG(3)
			drawn, own := tensor.NewRNG(4), tensor.NewRNG(4)
			for call := range 6 {
				steps := 5 + call/3*2
				a := recurArg{W: rng.Normal(3, 3).Keep(), B: rng.Normal(3), Init: rng.Normal(2, 3).Keep(), X: rng.Normal(steps, 2, 3).Keep()}
				if call%2 == 1 { // another offset
					a.Init, a.X = rng.Normal(3, 2, 3).Keep().At(2), rng.Normal(2, steps, 2, 3).Keep().At(1)
				}
				b := a
				if name == "draws outside of the body" || name == "a draw in the body" {
					a.RNG, b.RNG = drawn, own
				}
				got, want := fmt.Sprintf("%+v", jitted(a)), fmt.Sprintf("%+v", f(b))
				if got != want {
					t.Fatalf("call %d: %s, want %s", call, got, want)
				}
			}
			const forms = 4
			if runs > 2*forms {
				t.Errorf("f ran %d times, want twice for each of %d forms", runs, forms)
			}
		})
	}
}

// Recorded recurrences on another device, by several goroutines.
func TestJitOfScanShared(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	done := make(chan string)
	checkpoints := &grad.ScanOptions{Checkpoint: 2}
	whole := grad.Jit(func(a recurArg) tensor.Tensor { return recur(a, nil) })
	pieces := grad.Jit(func(a recurArg) tensor.Tensor { return recur(a, checkpoints) })
	for k := range 4 {
		go func() {
			rng := tensor.NewRNG(uint64(k))
			for range 5 {
				a := recurArg{W: rng.Normal(3, 3).To(d), B: rng.Normal(3).To(d), Init: rng.Normal(2, 3).To(d), X: rng.Normal(4, 2, 3).To(d)}
				if got, want := fmt.Sprint(whole(a), pieces(a)), fmt.Sprint(recur(a, nil), recur(a, checkpoints)); got != want {
					done <- fmt.Sprintf("goroutine %d: %s, want %s", k, got, want)
					return
				}
			}
			done <- ""
		}()
	}
	for range 4 {
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
}
