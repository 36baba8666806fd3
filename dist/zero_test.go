package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// With state and gradients divided the losses equal one rank's, and have the same bits in each run. No
// parameter but one has a multiple of the ranks' number of elements.
func TestZeRO(t *testing.T) {
	steps, sizes := 12, []int{3}
	if os.Getenv("TENSORKEN_FULL") == "1" {
		steps, sizes = 100, []int{1, 2, 4, 8}
	}
	want := rankLosses(t, 1, 0, steps)
	for _, n := range sizes {
		for _, zero := range []int{1, 2, 3} {
			losses := rankLosses(t, n, zero, steps)
			checkLosses(t, fmt.Sprintf("%d ranks, ZeRO %d", n, zero), losses, want)
			if again := rankLosses(t, n, zero, steps); !slices.Equal(losses, again) {
				t.Errorf("%d ranks, ZeRO %d: losses differ from run to run", n, zero)
			}
		}
	}
}

// A checkpoint of ranks with ZeRO resumes on any number of ranks, with ZeRO and without, and so does one without.
func TestZeROResume(t *testing.T) {
	run := func(folder string, n, zero, steps int) error {
		return dist.Local(n, func(g *dist.Group) error {
			l := newLoop(g, folder, steps)
			l.Checkpoint, l.Resume, l.Optimizer.ZeRO = filepath.Join(folder, "checkpoint"), true, zero
			return l.Run(context.Background())
		})
	}
	steps, cases := 20, []struct{ n, zero, n2, zero2 int }{{8, 2, 1, 0}, {8, 2, 2, 1}, {8, 1, 3, 2}, {2, 0, 3, 1}, {3, 3, 2, 3}, {2, 3, 3, 0}}
	if testing.Short() {
		steps, cases = 6, cases[4:5]
	}
	whole := t.TempDir()
	if err := run(whole, 1, 0, steps); err != nil {
		t.Fatal(err)
	}
	want := lossesOf(t, whole)
	for _, c := range cases {
		folder := t.TempDir()
		for _, err := range []error{run(folder, c.n, c.zero, steps/2), run(folder, c.n2, c.zero2, steps)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		checkLosses(t, fmt.Sprint(c), lossesOf(t, folder), want)
	}
}

// Each rank has its part of the slots, which FullState makes whole on rank 0. Every rule that updates each element on
// its own gives the model that it gives without ZeRO; others, and a State of other ranks, are errors.
func TestZeRORules(t *testing.T) {
	type pair struct{ W, B tensor.Tensor }
	rules := []optim.Rule{
		optim.SGD{}, optim.AdamW{WeightDecay: 0.1}, optim.Adam{AMSGrad: true}, optim.SGD{Momentum: 0.9, Nesterov: true}, optim.Adamax{}, optim.NAdam{}, optim.RAdam{},
		optim.RMSprop{Centered: true, Momentum: 0.9}, optim.Adagrad{}, optim.Adadelta{}, optim.ASGD{}, optim.Lion{WeightDecay: 0.1}, optim.Rprop{},
	}
	if testing.Short() {
		rules = rules[1:3]
	}
	const n = 3
	local(t, n, func(g *dist.Group) error {
		rng := tensor.NewRNG(1)
		first := pair{rng.Normal(5, 7).Keep(), rng.Normal(7).Keep()}
		x := tensor.NewRNG(uint64(g.Rank())).Normal(4, 5).Keep()
		train := func(rule optim.Rule, zero int, half, halved bool) (pair, *optim.Optimizer, error) {
			m := first
			if halved {
				m = tree.Cast(first, tensor.BFloat16)
			}
			o := &optim.Optimizer{Rule: rule, LR: 0.01, ClipNorm: 0.3, Parallel: g, ZeRO: zero, MasterWeights: halved}
			if half {
				o.Precision, o.Scaling.Initial = tensor.Float16, 1<<24 // overflows first
			}
			step := optim.Jit(o, func(m pair, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, pair) {
				return x.Cast(m.W.DType()).MatMul(m.W).Add(m.B).Square().Mean(), m
			})
			for range 5 {
				if _, err := step(&m, x, nil); err != nil {
					return m, o, err
				}
			}
			return m, o, nil
		}
		same := func(what string, got, want tensor.Tensor) error {
			if ok, err := tensor.AllClose(got, want, 1e-5, 1e-6); err != nil || !ok {
				return fmt.Errorf("%s = %v, want %v (%v)", what, got, want, err)
			}
			return nil
		}
		for i, rule := range rules {
			for _, half := range []bool{false, i == len(rules)-1} {
				want, whole, err := train(rule, 0, half, false)
				if err != nil {
					return err
				}
				for _, zero := range []int{1, 2, 3} {
					m, o, err := train(rule, zero, half, false)
					if err != nil {
						return err
					}
					what := fmt.Sprintf("%T, ZeRO %d, half %v: ", rule, zero, half)
					for name, s := range o.State.Slots {
						if s.Len() != 8*(whole.State.Slots[name].Len()/(8*n)+1) {
							return fmt.Errorf("%s%s has %d elements", what, name, s.Len())
						}
					}
					full, err := o.FullState(m)
					if err != nil {
						return err
					}
					if len(full.Slots) > 0 != (g.Rank() == 0 && len(whole.State.Slots) > 0) {
						return fmt.Errorf("%srank %d has %d full slots", what, g.Rank(), len(full.Slots))
					}
					for name, s := range full.Slots {
						if err := same(what+name, s, whole.State.Slots[name]); err != nil {
							return err
						}
					}
					if err := errors.Join(same(what+"w", m.W, want.W), same(what+"b", m.B, want.B)); err != nil {
						return err
					}
				}
			}
		}
		var halves [4]pair // of parameters of 16 bits, whose gradients plans round at other places
		for zero := range halves {
			var err error
			var o *optim.Optimizer
			if halves[zero], o, err = train(optim.AdamW{}, zero, false, true); err != nil {
				return err
			}
			full, err := o.FullState(halves[zero])
			if err != nil {
				return err
			}
			master, ok := full.Slots["w.master"]
			rounded := master
			if ok {
				rounded = master.Cast(tensor.BFloat16)
				if err := tensor.Eval(rounded); err != nil { // a Cast in one plan with Ne does not round
					return err
				}
			}
			if ok != (zero == 0 || g.Rank() == 0) || ok && halves[zero].W.Ne(rounded).Any().Item() != 0 {
				return fmt.Errorf("bfloat16, ZeRO %d: the parameter is %v, in float32 %v", zero, halves[zero].W, master)
			}
			if ok, err := tensor.AllClose(halves[zero].W, halves[0].W, 0.02, 0.002); err != nil || !ok {
				return fmt.Errorf("bfloat16, ZeRO %d: %v, want %v (%v)", zero, halves[zero].W, halves[0].W, err)
			}
		}
		for want, rule := range map[string]optim.Rule{"optim.LAMB does not update each element": optim.LAMB{}, `"w" with ZeRO: optim.Muon`: optim.Muon{}} {
			if _, _, err := train(rule, 1, false, false); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%T: %v, want %q", rule, err, want)
			}
		}
		m, o, err := train(optim.Adam{}, 1, false, false)
		if err != nil {
			return err
		}
		o.ZeRO = 0
		if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), "State is divided over 3 other ranks") {
			return fmt.Errorf("without ZeRO: %v", err)
		}
		o.ZeRO, o.State = 1, optim.State{Step: o.State.Step.Add(0), Slots: o.State.Slots}
		if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), "FullState returns a State for files") {
			return fmt.Errorf("parts as a whole State: %v", err)
		}
		return nil
	})
}

// On devices with collectives of their own two ranks hold half of the state each, and the step frees the rest.
func TestZeROMemory(t *testing.T) {
	const n, width = 2, 128
	size := 4 * width * width * 3 // of the parameters
	held := map[int]int64{}
	losses := map[int]float64{}
	for _, zero := range []int{0, 1, 2, 3} {
		var before int64
		collect := func() int64 {
			runtime.GC()
			runtime.GC()
			return tensor.Info().Held
		}
		onFakes(t, n, func(g *dist.Group, d *tensor.Device) error {
			rng := tensor.NewRNG(1)
			net := tree.To([]nn.Linear{nn.NewLinear(rng, width, width), nn.NewLinear(rng, width, width), nn.NewLinear(rng, width, width)}, d)
			x := rng.Normal(2, width).To(d).Keep()
			if err := errors.Join(tensor.Eval(x, net), g.Barrier()); err != nil {
				return err
			}
			if g.Rank() == 0 {
				before = collect()
			}
			tree.Donate(net)
			o := &optim.Optimizer{Rule: optim.Adam{}, LR: 1e-3, Parallel: g, ZeRO: zero}
			step := optim.Jit(o, func(m []nn.Linear, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, []nn.Linear) {
				return m[2].Apply(m[1].Apply(m[0].Apply(x).Tanh()).Tanh()).Square().Mean(), m
			})
			for i := range 5 {
				if err := g.Barrier(); err != nil {
					return err
				}
				loss, err := step(&net, x, nil)
				if err != nil {
					return err
				}
				if value := loss.Item(); i == 4 && g.Rank() == 0 {
					losses[zero] = value
				}
			}
			if err := errors.Join(d.Sync(), g.Barrier()); err != nil {
				return err
			}
			if g.Rank() == 0 {
				held[zero] = collect() - before
			}
			err := g.Barrier()
			runtime.KeepAlive([]any{&net, o, x})
			return err
		})
		if want := []int{4, 2, 2, 1}[zero] * size * n / 2; math.Abs(float64(held[zero])/float64(want)-1) > 0.2 { // sizes are rounded up
			t.Errorf("ZeRO %d: state has %d bytes, want about %d", zero, held[zero], want)
		}
		if math.Abs(losses[zero]-losses[0]) > 1e-5*losses[0] {
			t.Errorf("ZeRO %d: the loss is %v, want %v", zero, losses[zero], losses[0])
		}
	}
}

// With ZeRO 3 a recorded step is for models of its shapes, also where other shapes have parts of the same lengths.
func TestZeROShapes(t *testing.T) {
	local(t, 2, func(g *dist.Group) error {
		rng := tensor.NewRNG(1)
		x := rng.Normal(4, 6).Keep()
		models := []tensor.Tensor{rng.Normal(6, 4).Keep(), rng.Normal(2, 12).Keep(), rng.Normal(3, 7).Keep()}
		losses := map[int][]float64{}
		for _, zero := range []int{0, 3} {
			o := &optim.Optimizer{Rule: optim.SGD{}, LR: 0.1, Parallel: g, ZeRO: zero}
			step := optim.Jit(o, func(m nn.Linear, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, nn.Linear) {
				return x.Slice(1, 0, m.Weight.Dim(0)).MatMul(m.Weight).Square().Mean(), m
			})
			for _, w := range models {
				m := nn.Linear{Weight: w} // without a bias
				for range 5 {
					loss, err := step(&m, x, nil)
					if err != nil {
						return err
					}
					losses[zero] = append(losses[zero], loss.Item())
				}
			}
		}
		for i, want := range losses[0] {
			if got := losses[3][i]; math.Abs(got-want) > 1e-5*want {
				return fmt.Errorf("step %d: the loss is %v, want %v", i, got, want)
			}
		}
		return nil
	})
}

// A model that is donated before a Step that divides its parameters is stepped, and stays if the step fails.
func TestZeRODonated(t *testing.T) {
	for _, zero := range []int{0, 3} {
		local(t, 2, func(g *dist.Group) error {
			w := tensor.NewRNG(1).Normal(6, 4).Keep()
			if err := tensor.Eval(w); err != nil {
				return err
			}
			tree.Donate(w)
			o := &optim.Optimizer{Rule: optim.Adam{}, LR: -1, Parallel: g, ZeRO: zero}
			for i := range 3 {
				_, grads := optim.ValueAndGrad(o, func(w tensor.Tensor) tensor.Tensor { return w.Square().Mean() })(w)
				if err := o.Step(&w, grads); (err != nil) != (i == 0) {
					return fmt.Errorf("ZeRO %d, step %d: %v", zero, i, err)
				}
				o.LR = 0.1
			}
			return nil
		})
	}
}

// A parameter that the loss changes in the model that it returns is stepped from there.
func TestZeROChanged(t *testing.T) {
	var want []float32
	for _, zero := range []int{0, 1, 3} {
		local(t, 2, func(g *dist.Group) error {
			w := tensor.NewRNG(1).Normal(6, 4).Keep()
			x := tensor.NewRNG(uint64(g.Rank())).Normal(4, 6).Keep()
			o := &optim.Optimizer{Rule: optim.Adam{}, LR: 0.1, Parallel: g, ZeRO: zero}
			step := optim.Jit(o, func(w, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) {
				return x.MatMul(w).Square().Mean(), w.Clamp(-0.5, 0.5)
			})
			for i := range 4 {
				if _, err := step(&w, x, nil); err != nil {
					return fmt.Errorf("ZeRO %d, step %d: %w", zero, i, err)
				}
			}
			got, err := tensor.Data[float32](w)
			if err != nil || g.Rank() > 0 {
				return err
			}
			if want == nil {
				want = got
			}
			for i := range got {
				if math.Abs(float64(got[i]-want[i])) > 1e-5 {
					return fmt.Errorf("ZeRO %d: %v, want %v", zero, got, want)
				}
			}
			return nil
		})
	}
}
