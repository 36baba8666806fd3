package optim_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// mixedProblem is the network of the traces, whose loss casts its data to the
// parameters' type.
func mixedProblem(t *testing.T) (model, func(model) tensor.Tensor) {
	tr := readTraces(t, "training_traces")
	m, _ := tr.problem()
	x, y := tr.X.tensor(), tensor.New(tr.Y.Data)
	return m, func(m model) tensor.Tensor {
		return nn.CrossEntropy(m.apply(x.Cast(m.W1.DType())), y).Mean()
	}
}

// Training in 16 bits keeps the parameters' type and nearly the losses of float32.
func TestPrecision(t *testing.T) {
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		m, f := mixedProblem(t)
		full, o, exact := m, optim.New(optim.Adam{}, 0.01), optim.New(optim.Adam{}, 0.01)
		o.Precision = d
		o.Scaling.Initial = 1 << 10
		for step := range 30 {
			loss, g := optim.ValueAndGrad(o, f)(m)
			want, h := grad.ValueAndGrad(f)(full)
			if err := o.Step(&m, g); err != nil {
				t.Fatal(err)
			}
			if err := exact.Step(&full, h); err != nil {
				t.Fatal(err)
			}
			if got := loss.Item(); math.Abs(got-want.Item()) > 0.01 || loss.DType() != tensor.Float32 {
				t.Errorf("%v, step %d: loss %v %v, want about %v", d, step, loss.DType(), got, want)
			}
		}
		if m.W1.DType() != tensor.Float32 {
			t.Errorf("%v: the parameters are %v, want float32", d, m.W1.DType())
		}
	}
}

// A step whose gradients overflow changes nothing but the scale, until it is small
// enough; after an interval without overflow the scale grows, until the next.
func TestScaling(t *testing.T) {
	const initial, interval = 1 << 24, 3
	m, f := mixedProblem(t)
	o := optim.New(optim.SGD{Momentum: 0.9}, 0.1)
	o.Precision = tensor.Float16
	o.Scaling = optim.Scaling{Initial: initial, Interval: interval}
	first, scale, streak := f(m).Item(), float64(initial), 0.0
	var skips []int
	for step := range 20 {
		before, slots := m, tree.Copy(o.State.Slots) // as Step donates them
		loss, g := optim.ValueAndGrad(o, f)(m)
		if err := o.Step(&m, g); err != nil {
			t.Fatal(err)
		}
		skipped := false
		for _, g := range []tensor.Tensor{g.W1, g.B1, g.W2, g.B2} {
			skipped = skipped || g.IsInf().Or(g.IsNaN()).Any().Item() == 1
		}
		streak++
		switch {
		case skipped:
			scale, streak, skips = scale/2, 0, append(skips, step)
		case streak == interval:
			scale, streak = scale*2, 0
		}
		if got := o.State.Scale.Item(); got != scale {
			t.Errorf("after step %d the scale is %v, want %v", step, got, scale)
		}
		if got := o.State.Streak.Item(); got != streak {
			t.Errorf("after step %d the streak is %v, want %v", step, got, streak)
		}
		if same := m.W2.Eq(before.W2).All().Item() == 1; same != skipped {
			t.Errorf("step %d: parameters are the same: %v, want %v", step, same, skipped)
		}
		if slots != nil && skipped && o.State.Slots["w2.0"].Ne(slots["w2.0"]).Any().Item() != 0 {
			t.Errorf("step %d, which was skipped, changed the momentum", step)
		}
		if got := loss.Item(); math.IsNaN(got) || math.IsInf(got, 0) {
			t.Errorf("step %d: loss %v, want the loss without its scale", step, got)
		}
	}
	if n := len(skips); n < 3 || skips[1] != 1 || skips[n-1] < n {
		t.Errorf("steps %v were skipped, want the first ones and one after the scale grew", skips)
	}
	if last := f(m).Item(); !(last < first) {
		t.Errorf("the loss went from %v to %v, want less", first, last)
	}
	if got := o.State.Step.Item(); got != 20 {
		t.Errorf("State.Step = %v, want 20, skipped steps too", got)
	}
}

func TestScalingPlans(t *testing.T) {
	freshDevice(t)
	m, f := mixedProblem(t)
	o := optim.New(optim.Adam{}, 0.1)
	o.Precision, o.ClipNorm = tensor.Float16, 1
	plans := []int{}
	for range 4 {
		_, g := optim.ValueAndGrad(o, f)(m)
		if err := o.Step(&m, g); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, tensor.Info().Plans)
	}
	if plans[0] != plans[3] {
		t.Errorf("after each step there are %v plans, want no more after the first", plans)
	}
}

// The scale is a part of State.
func TestScalingResumes(t *testing.T) {
	m, f := mixedProblem(t)
	o := optim.New(optim.SGD{}, 0.1)
	o.Precision = tensor.Float16
	step := func(o *optim.Optimizer, m *model) {
		t.Helper()
		_, g := optim.ValueAndGrad(o, f)(*m)
		if err := o.Step(m, g); err != nil {
			t.Fatal(err)
		}
	}
	step(o, &m)
	step(o, &m)
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := safetensors.Save(path, o.State); err != nil {
		t.Fatal(err)
	}
	again, n := optim.New(optim.SGD{}, 0.1), m
	again.Precision = tensor.Float16
	if err := safetensors.Load(path, &again.State); err != nil {
		t.Fatal(err)
	}
	step(o, &m)
	step(again, &n)
	if a, b := o.State.Scale.Item(), again.State.Scale.Item(); a != b || m.W1.Ne(n.W1).Any().Item() != 0 {
		t.Errorf("after a restart the scale is %v and the weights %v, want %v and %v", b, n.W1, a, m.W1)
	}
}

// Batch norm's statistics come back in float32, and the parameters as they were.
func TestPrecisionAux(t *testing.T) {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewLinear(rng, 5, 4), nn.NewBatchNorm(4)}
	x := rng.Normal(7, 5)
	o := optim.New(optim.SGD{}, 0.1)
	o.Precision = tensor.BFloat16
	f := func(d tensor.DType) func(nn.Sequential) (tensor.Tensor, nn.Sequential) {
		return func(net nn.Sequential) (tensor.Tensor, nn.Sequential) {
			y, next := nn.Train(net, x.Cast(d), rng)
			return y.Square().Mean(), next
		}
	}
	_, next, g := optim.ValueAndGradAux(o, f(tensor.BFloat16))(net)
	_, want, _ := grad.ValueAndGradAux(f(tensor.Float32))(net)
	got := next[1].(nn.BatchNorm)
	if d := got.Mean.Sub(want[1].(nn.BatchNorm).Mean).Abs().Max().Item(); d > 0.01 || got.Mean.DType() != tensor.Float32 {
		t.Errorf("the running mean is %v %v, want about %v", got.Mean.DType(), got.Mean, want[1].(nn.BatchNorm).Mean)
	}
	w := next[0].(nn.Linear).Weight
	if w.DType() != tensor.Float32 || w.Ne(net[0].(nn.Linear).Weight).Any().Item() != 0 {
		t.Errorf("the weight came back as %v %v, want that of before", w.DType(), w)
	}
	if err := o.Step(&next, g); err != nil {
		t.Fatal(err)
	}
	_, stat, _ := optim.ValueAndGradAux(o, func(net nn.Sequential) (tensor.Tensor, tensor.Tensor) {
		y := net.Apply(x.Cast(tensor.BFloat16))
		return y.Mean(), y
	})(next)
	o.Precision = tensor.Int32
	wantErr := "optim.ValueAndGrad: the Precision is int32, want a floating-point type"
	if err := tensor.Try(func() { optim.ValueAndGrad(o, func(net nn.Sequential) tensor.Tensor { return x.Mean() })(net) }); err == nil || !strings.HasSuffix(err.Error(), wantErr) {
		t.Errorf("error %v, want …%s", err, wantErr)
	}
	if stat.DType() != tensor.BFloat16 {
		t.Errorf("what is no model came back as %v, want bfloat16 as computed", stat.DType())
	}
}

// The parameters of 16 bits are those that a rule makes in float32 of their gradients, rounded: steps of less than a
// digit add up.
func TestMasterWeights(t *testing.T) {
	const steps = 20
	m, f := mixedProblem(t)
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		for _, rule := range []optim.Rule{optim.SGD{}, optim.SGD{Momentum: 0.9}, optim.AdamW{WeightDecay: 0.1}} {
			master, exact := tree.Cast(tree.Cast(m, d), tensor.Float32), optim.New(rule, 1e-4)
			stepped, recorded := tree.Cast(m, d), tree.Cast(m, d)
			o, p := optim.New(rule, 1e-4), optim.New(rule, 1e-4)
			o.MasterWeights, p.MasterWeights = true, true
			step := optim.Jit(p, func(m model, _ int, _ *tensor.RNG) (tensor.Tensor, model) { return f(m), m })
			for range steps {
				_, g := grad.ValueAndGrad(f)(tree.Cast(master, d))
				_, h := grad.ValueAndGrad(f)(stepped)
				_, err := step(&recorded, 0, nil)
				if err := errors.Join(err, exact.Step(&master, tree.Cast(g, tensor.Float32)), o.Step(&stepped, h)); err != nil {
					t.Fatal(err)
				}
			}
			want := maps.Collect(tree.All(tree.Cast(master, d)))
			for way, m := range map[string]model{"Step": stepped, "Jit": recorded} {
				for name, got := range tree.All(m) {
					if ok, err := tensor.AllClose(got, want[name], 0.008, 1e-5); err != nil || !ok { // one digit: plans round gradients at other places
						t.Errorf("%v, %T, %s: %s = %v, want %v (%v)", d, rule, way, name, got, want[name], err)
					}
				}
			}
			o.MasterWeights = false
			_, h := grad.ValueAndGrad(f)(stepped)
			if err := o.Step(&stepped, h); err == nil || !strings.Contains(err.Error(), "set MasterWeights") {
				t.Errorf("%v, %T: a State with parameters in a step without: %v", d, rule, err)
			}
		}
	}
}

// ownRule is a rule of a user, whose slot is new at its first step.
type ownRule struct{}

func (ownRule) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	v := g
	if len(slots) > 0 {
		v = slots[0].Add(g)
	}
	return p.Sub(v.Mul(lr)), []tensor.Tensor{v}
}

// A step that is skipped leaves parameters in float32 as they are, also new ones. An element that has changed between steps
// counts, and so does MasterWeights that is set later.
func TestMasterWeightsChange(t *testing.T) {
	type pair struct{ A, B tensor.Tensor }
	halves := func(d tensor.DType, a, b float64) pair {
		return pair{tensor.Full(a, 4).Cast(d), tensor.Full(b, 4).Cast(d)}
	}
	want := func(what string, x tensor.Tensor, list ...float64) {
		t.Helper()
		got, err := tensor.Data[float32](x.Cast(tensor.Float32))
		for i, v := range list {
			if err != nil || math.Abs(float64(got[i])-v) > 0.01*math.Abs(v)+1e-3 {
				t.Errorf("%s: %v, want %v (%v)", what, got, list, err)
				return
			}
		}
	}
	for _, rule := range []optim.Rule{optim.SGD{}, optim.SGD{Momentum: 0.9}, optim.AdamW{}, ownRule{}} {
		for _, recorded := range []bool{false, true} {
			what := fmt.Sprintf("%T, recorded %v", rule, recorded)
			o := &optim.Optimizer{Rule: rule, LR: 1e-3, Precision: tensor.Float16, MasterWeights: true}
			m := halves(tensor.Float16, 1, 3)
			step := func(scale float64, late bool) {
				t.Helper()
				g := halves(tensor.Float16, scale, scale)
				if late {
					g.B = tensor.Tensor{}
				}
				if err := o.Step(&m, g); err != nil {
					t.Fatal(err)
				}
			}
			if recorded {
				f := optim.Jit(o, func(m pair, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, pair) {
					return m.A.Add(m.B).Mul(x).Sum(), m
				})
				step = func(scale float64, late bool) {
					t.Helper()
					if _, err := f(&m, tensor.Full(scale, 4).Cast(tensor.Float16), nil); err != nil {
						t.Fatal(err)
					}
				}
			} else {
				o.State.Scale, o.State.Streak = tensor.New([]float32{1}), tensor.New([]int32{0})
			}
			for i := range 6 {
				step([]float64{math.Inf(1), 1, 1, math.Inf(1), 1, 1}[i], i < 2)
			}
			a, b := m.A.At(0).Item(), m.B.At(0).Item()
			if !(a < 1 && a > 0.97 && b < 3 && b > 2.97) {
				t.Errorf("%s: %v and %v after steps of about 0.001 from 1 and 3", what, a, b)
			}
			x, _ := tensor.Data[float32](m.A.Cast(tensor.Float32))
			x[1] = -2
			m.A = tensor.New(x).Cast(tensor.Float16)
			step(1, false)
			want(what+", changed", m.A, a, -2, a)
		}
	}
	for _, recorded := range []bool{false, true} { // later
		m, x := halves(tensor.BFloat16, 1, 3), tensor.Full(1, 4).Cast(tensor.BFloat16)
		o := &optim.Optimizer{Rule: optim.AdamW{}, LR: 1e-3}
		loss := func(m pair) tensor.Tensor { return m.A.Add(m.B).Mul(x).Sum() }
		f := optim.Jit(o, func(m pair, _ int, _ *tensor.RNG) (tensor.Tensor, pair) { return loss(m), m })
		for i := range 14 {
			o.MasterWeights = i >= 4
			var err error
			if recorded {
				_, err = f(&m, 0, nil)
			} else {
				_, g := grad.ValueAndGrad(loss)(m)
				err = o.Step(&m, g)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		wide := tree.Cast(m, tensor.Float32)
		if err := o.Step(&wide, wide); err == nil || !strings.Contains(err.Error(), `"a.master"`) {
			t.Errorf("a State with parameters of 16 bits in float32, in a step of a float32 model: %v", err)
		}
		if b := m.B.At(0).Item(); b != 2.984375 { // ten steps of 0.001, of which none shows alone
			t.Errorf("set later, recorded %v: %v, want 2.984375", recorded, b)
		}
	}
}
