package optim_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// floats returns the elements of a float32 tensor.
func floats(t *testing.T, x tensor.Tensor) []float32 {
	t.Helper()
	got, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func near(got, want []float32) bool {
	return slices.EqualFunc(got, want, func(g, w float32) bool { return math.Abs(float64(g-w)) < 1e-5 })
}

type pair struct {
	A tensor.Tensor
	B tensor.Tensor `tensor:",optional"`
}

func newPair() pair {
	return pair{tensor.New([]float32{1, 2}), tensor.New([]float32{3})}
}

func TestStepLeavesWithoutGradient(t *testing.T) {
	m, before := newPair(), newPair()
	before = m
	o := optim.New(optim.SGD{}, 0.5)
	if err := o.Step(&m, pair{A: tensor.New([]float32{2, 4})}); err != nil {
		t.Fatal(err)
	}
	if got, want := floats(t, m.A), []float32{0, 0}; !near(got, want) {
		t.Errorf("A = %v, want %v", got, want)
	}
	if got, want := floats(t, m.B), []float32{3}; !near(got, want) {
		t.Errorf("B = %v, want %v", got, want)
	}
	if got, want := floats(t, before.A), []float32{1, 2}; !near(got, want) {
		t.Errorf("the model before the step = %v, want %v", got, want)
	}
}

func TestRuleFor(t *testing.T) {
	m := newPair()
	o := optim.New(optim.SGD{}, 1)
	o.RuleFor = func(name string) optim.Rule {
		if name == "a" {
			return nil
		}
		return optim.SGD{WeightDecay: 1}
	}
	if err := o.Step(&m, pair{tensor.Ones(2), tensor.Ones(1)}); err != nil {
		t.Fatal(err)
	}
	if got, want := floats(t, m.A), []float32{1, 2}; !near(got, want) {
		t.Errorf("frozen A = %v, want %v", got, want)
	}
	if got, want := floats(t, m.B), []float32{-1}; !near(got, want) {
		t.Errorf("B = %v, want %v", got, want)
	}
}

func TestSchedule(t *testing.T) {
	m := pair{A: tensor.Zeros(1)}
	o := optim.New(optim.SGD{}, 2)
	var steps []int
	o.Schedule = func(step int) float64 { steps = append(steps, step); return float64(step) }
	for range 3 {
		if err := o.Step(&m, pair{A: tensor.Ones(1)}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{0, 1, 2}; !slices.Equal(steps, want) {
		t.Errorf("Schedule was asked for steps %v, want %v", steps, want)
	}
	if got, want := floats(t, m.A), []float32{-6}; !near(got, want) {
		t.Errorf("A = %v, want %v", got, want)
	}
}

// A restart does not change the steps after it.
func TestStateFile(t *testing.T) {
	step := func(o *optim.Optimizer, m *pair) {
		t.Helper()
		if err := o.Step(m, pair{m.A.Square(), m.B}); err != nil {
			t.Fatal(err)
		}
	}
	m, o := newPair(), optim.New(optim.Adam{}, 0.1)
	step(o, &m)
	step(o, &m)
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := safetensors.Save(path, o.State); err != nil {
		t.Fatal(err)
	}
	n, restarted := m, optim.New(optim.Adam{}, 0.1)
	if err := safetensors.Load(path, &restarted.State); err != nil {
		t.Fatal(err)
	}
	step(o, &m)
	step(restarted, &n)
	if got, want := floats(t, n.A), floats(t, m.A); !slices.Equal(got, want) {
		t.Errorf("after a restart A = %v, want %v", got, want)
	}
	if got := restarted.State.Step.Item(); got != 3 {
		t.Errorf("after a restart State.Step = %v, want 3", got)
	}
	var names []string
	for name := range restarted.State.Slots {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"a.0", "a.1", "b.0", "b.1"}; !slices.Equal(names, want) {
		t.Errorf("slots are %v, want %v", names, want)
	}
}

// growing is a rule that changes the shape of parameters.
type growing struct{ optim.SGD }

func (growing) Update(p, _ tensor.Tensor, _ []tensor.Tensor, _ float64, _ int) (tensor.Tensor, []tensor.Tensor) {
	return p.Add(tensor.Ones(2, 1, 1)), nil
}

// broken is a rule that adds tensors of different shapes.
type broken struct{ optim.SGD }

func (broken) Update(p, _ tensor.Tensor, _ []tensor.Tensor, _ float64, _ int) (tensor.Tensor, []tensor.Tensor) {
	return p.Add(tensor.Ones(5)), nil
}

// A State of another model or rule is an error, and nothing changes.
func TestStepStateMisfits(t *testing.T) {
	momentum := optim.SGD{Momentum: 0.9}
	state := func(rule optim.Rule, m []tensor.Tensor) optim.State {
		t.Helper()
		o := optim.New(rule, 1)
		if err := o.Step(&m, m); err != nil {
			t.Fatal(err)
		}
		return o.State
	}
	small, large := []tensor.Tensor{tensor.Ones(2, 2)}, []tensor.Tensor{tensor.Ones(3, 3)}
	double := []tensor.Tensor{tensor.Ones(3, 3).Cast(tensor.Float64)}
	row := state(momentum, []tensor.Tensor{tensor.Ones(3)})
	others := state(momentum, []tensor.Tensor{large[0], small[0]})
	gap := optim.State{Step: row.Step, Slots: map[string]tensor.Tensor{"0.1": large[0]}}
	absent := optim.State{Step: row.Step, Slots: map[string]tensor.Tensor{"0.0": {}}}
	words := optim.State{Step: tensor.New([]float32{1})}
	for _, c := range []struct {
		name  string
		rule  optim.Rule
		state optim.State
		want  string
	}{
		{"momentum's in Adam", optim.Adam{}, state(momentum, large), `parameter "0", float32 [3 3]: optim.Adam makes slots float32 [3 3], float32 [3 3]; State has slots float32 [3 3]: are`},
		{"Adam's in momentum", momentum, state(optim.Adam{}, large), `parameter "0", float32 [3 3]: optim.SGD makes slots float32 [3 3]; State has slots float32 [3 3], float32 [3 3]: are`},
		{"another shape", momentum, state(momentum, small), `parameter "0", float32 [3 3]: optim.SGD: `},
		{"another shape", momentum, state(momentum, small), `lengths must be equal or 1; State has slots float32 [2 2]: are`},
		{"a shape that broadcasts", momentum, row, `parameter "0", float32 [3 3]: optim.SGD makes slots float32 [3 3]; State has slots float32 [3]: are`},
		{"another type", optim.Adam{}, state(optim.Adam{}, double), `State has slots float64 [3 3], float64 [3 3]: are`},
		{"an absent slot", momentum, absent, `State has slots absent: are`},
		{"another model", momentum, others, `optim: Step: State has slots "1.0", which have no parameter in the model: is it the State of this model?`},
		{"a slot without the one before", momentum, gap, `optim: Step: State has slots "0.1", which have`},
		{"steps that are no number", momentum, words, "optim: State.Step is float32 [1], want one int32"},
		{"a rule that adds what does not fit", broken{}, optim.State{}, "Add of [3 3] and [5]"},
		{"a rule that broadcasts", growing{}, optim.State{}, `parameter "0", float32 [3 3]: optim_test.growing made it float32 [2 3 3]: want`},
	} {
		m := slices.Clone(large)
		o := optim.New(c.rule, 1)
		o.State = c.state
		if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Step gave error %v, want …%s…", c.name, err, c.want)
		}
		if got, want := floats(t, m[0]), floats(t, large[0]); !slices.Equal(got, want) || len(o.State.Slots) != len(c.state.Slots) {
			t.Errorf("%s: after a step that failed the model is %v, want %v; State = %v", c.name, got, want, o.State)
		}
	}
	o := optim.New(optim.AdamW{}, 1) // whose slots are Adam's
	o.State = state(optim.Adam{}, large)
	if err := o.Step(&large, large); err != nil {
		t.Errorf("AdamW with the State of Adam: Step gave error %v", err)
	}
}

// An error that slots are not the cause of does not suspect them.
func TestStepErrorWithState(t *testing.T) {
	for _, rule := range []optim.Rule{optim.SGD{Momentum: 0.9}, optim.Adam{}} {
		m := []tensor.Tensor{tensor.Ones(3, 3)}
		o := optim.New(rule, 1)
		if err := o.Step(&m, m); err != nil {
			t.Fatal(err)
		}
		o.LR = 1e300
		if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), "does not fit float32") || strings.Contains(err.Error(), "State") {
			t.Errorf("%T with a learning rate of 1e300: Step gave error %v, want one of the rate alone", rule, err)
		}
	}
}

func TestStepMisuse(t *testing.T) {
	type named = map[string]tensor.Tensor
	type hidden struct{ w tensor.Tensor }
	secret := hidden{tensor.Ones(1)}
	var none nn.Layer
	var nobody *pair
	dict, any1 := named{"a": tensor.Ones(1)}, any(newPair())
	counts := []tensor.Tensor{tensor.New([]int32{1})}
	m, o := newPair(), optim.New(optim.SGD{}, 1)
	part, short, long, bare := pair{A: m.A}, []tensor.Tensor{m.A}, []tensor.Tensor(nil), tensor.Ones(2)
	row, half := newPair(), newPair()
	row.A, half.B = tensor.Ones(1), half.B.Cast(tensor.Float16)
	for _, c := range []struct {
		err  error
		want string
	}{
		{o.Step(m, m), "want a pointer to the model"},
		{o.Step(&m, m.A), "want the same type"},
		{o.Step(&m, row), `parameter "a", float32 [2]: its gradient is float32 [1]`},
		{o.Step(&m, half), `parameter "b", float32 [1]: its gradient is float16 [1]`},
		{o.Step(nil, m), "optim: Step of a model of type <nil>: want a pointer to the model"},
		{o.Step(nobody, m), "optim: Step of a nil *optim_test.pair: want a pointer to the model"},
		{o.Step(&none, nil), "optim: Step of a nil nn.Layer: want a model in it"},
		{o.Step(&any1, nil), "optim: Step of a model of type optim_test.pair with gradients of type <nil>: want the same type"},
		{o.Step(&dict, named{"a": tensor.Ones(1), "c": tensor.Ones(1)}),
			`optim: Step: there are gradients of "c", which the model of type map[string]tensor.Tensor lacks: want the model that they were computed for`},
		{o.Step(new(pair), m), `optim: Step: there are gradients of "a", "b", which the model of type optim_test.pair lacks`},
		{o.Step(&part, m), `optim: Step: there are gradients of "b", which`},
		{o.Step(&short, []tensor.Tensor{m.A, m.B}), "optim: Step: there are gradients of element 1, which"},
		{o.Step(&long, slices.Repeat([]tensor.Tensor{m.A}, 7)), "of element 0, element 1, element 2, element 3, element 4 and 2 more, which"},
		{o.Step(new(tensor.Tensor), m.A), "optim: Step: there are gradients of the tensor, which the model of type tensor.Tensor lacks"},
		{o.Step(&bare, tensor.Ones(3)), "optim: Step of the tensor, float32 [2]: its gradient is float32 [3]: want the same shape and type"},
		{o.Step(&secret, secret), "optim: Step: optim_test.hidden: unexported field w holds tensor.Tensor"},
		{o.Step(&counts, counts), `optim: Step of parameter "0", int32 [1]: it has a gradient: want`},
		{optim.New(nil, 1).Step(&m, m), "optim: Step of an Optimizer without a Rule"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("Step gave error %v, want …%s", c.err, c.want)
		}
	}
	if got, want := floats(t, m.A), []float32{1, 2}; !near(got, want) || o.State.Step.IsValid() {
		t.Errorf("after steps that failed A = %v, want %v; State = %v", got, want, o.State)
	}
}

// A step with other numbers compiles nothing.
func TestStepsShareAPlan(t *testing.T) {
	m := pair{A: tensor.Ones(3)}
	o := optim.New(optim.AdamW{WeightDecay: 0.1}, 0.1)
	o.Schedule = optim.Warmup(3, optim.Cosine(10, 0.1))
	plans := 0
	for i := range 8 {
		if err := o.Step(&m, pair{A: tensor.New([]float32{1, 2, float32(i)})}); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			plans = tensor.Info().Plans
		}
	}
	if got := tensor.Info().Plans; got != plans {
		t.Errorf("steps 3 to 7 compiled %d plans, want none", got-plans)
	}
}

func TestClip(t *testing.T) {
	g := pair{tensor.New([]float32{3, 0}), tensor.New([]float32{-4})}
	clipped := optim.ClipNorm(g, 1)
	if got, want := append(floats(t, clipped.A), floats(t, clipped.B)...), []float32{0.6, 0, -0.8}; !near(got, want) {
		t.Errorf("ClipNorm(g, 1) = %v, want %v", got, want)
	}
	same := optim.ClipNorm(g, 6)
	if got, want := append(floats(t, same.A), floats(t, same.B)...), []float32{3, 0, -4}; !near(got, want) {
		t.Errorf("ClipNorm(g, 6) = %v, want %v", got, want)
	}
	if got := optim.TotalNorm(g); got.Item() != 5 || got.Rank() != 0 || optim.TotalNorm(pair{}).Item() != 0 {
		t.Errorf("TotalNorm(g) = %v, want 5", got)
	}
	value := optim.ClipValue(g, 3.5)
	if got, want := append(floats(t, value.A), floats(t, value.B)...), []float32{3, 0, -3.5}; !near(got, want) {
		t.Errorf("ClipValue(g, 3.5) = %v, want %v", got, want)
	}
	// Squares and sums beyond the range of float32 are in float64's.
	wide := optim.ClipNorm([]tensor.Tensor{tensor.New([]float64{3e25}), tensor.Zeros(1), tensor.New([]float64{4e25})}, 1)
	for i, want := range []float64{0.6, 0, 0.8} {
		if got := wide[i].Item(); math.Abs(got-want) > 1e-12 {
			t.Errorf("element %d of ClipNorm of float64 = %v, want %v", i, got, want)
		}
	}
	if got := wide[1].DType(); got != tensor.Float32 {
		t.Errorf("ClipNorm made a float32 gradient %v", got)
	}
	if absent := optim.ClipNorm(pair{}, 1); absent.A.IsValid() {
		t.Error("ClipNorm of absent gradients made one")
	}
	if got, want := floats(t, optim.ClipNorm(g.A, math.Inf(1))), []float32{3, 0}; !near(got, want) {
		t.Errorf("ClipNorm([3 0], Inf) = %v, want %v", got, want)
	}
	clip := func(g tensor.Tensor) tensor.Tensor { return optim.ClipNorm(g, 1).Sum() }
	if got, want := floats(t, grad.Of(clip)(tensor.Zeros(2))), []float32{1, 1}; !near(got, want) {
		t.Errorf("the derivative of ClipNorm at zeros = %v, want %v", got, want)
	}
}

func TestClipMisuse(t *testing.T) {
	g := newPair()
	for _, limit := range []float64{-1, math.NaN(), math.Inf(-1)} {
		for _, c := range []struct {
			f    func()
			want string
		}{
			{func() { optim.ClipNorm(g, limit) }, "optim.ClipNorm: the limit of the norm is %v, want 0 or more"},
			{func() { optim.ClipNorm(pair{}, limit) }, "optim.ClipNorm: the limit of the norm is %v, want 0 or more"},
			{func() { optim.ClipValue(g, limit) }, "optim.ClipValue: the limit of the elements is %v, want 0 or more"},
		} {
			err, want := tensor.Try(c.f), fmt.Sprintf(c.want, limit)
			if err == nil || !strings.HasPrefix(err.Error(), "optim_test.go:") || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("error %v, want optim_test.go:N: %s", err, want)
			}
		}
		m, o := newPair(), optim.New(optim.SGD{}, 1)
		o.ClipNorm = limit
		err, want := o.Step(&m, g), fmt.Sprintf("optim: Step of an Optimizer whose ClipNorm is %v: want the greatest norm allowed, or 0 for no limit", limit)
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAverage(t *testing.T) {
	type counted struct{ W, N tensor.Tensor }
	avg := counted{tensor.New([]float32{1}), tensor.New([]int32{1})}
	m := counted{tensor.New([]float32{2}), tensor.New([]int32{5})}
	got := optim.Average(avg, m, 0.75)
	if w := got.W.Item(); w != 1.25 {
		t.Errorf("Average of 1 and 2 by 0.75 = %v, want 1.25", w)
	}
	if n := got.N.Item(); n != 5 {
		t.Errorf("Average of a count = %v, want the model's 5", n)
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(int) float64
		want map[int]float64
	}{
		{"Cosine(10, 0.1)", optim.Cosine(10, 0.1), map[int]float64{0: 1, 5: 0.55, 10: 0.1, 99: 0.1}},
		{"Linear(10, 0.5)", optim.Linear(10, 0.5), map[int]float64{0: 1, 5: 0.75, 10: 0.5, 99: 0.5}},
		{"Linear(0, 0.5)", optim.Linear(0, 0.5), map[int]float64{0: 0.5}},
		{"Warmup(4, nil)", optim.Warmup(4, nil), map[int]float64{0: 0.25, 3: 1, 4: 1}},
		{"StepDecay(3, 0.5)", optim.StepDecay(3, 0.5), map[int]float64{0: 1, 2: 1, 3: 0.5, 6: 0.25}},
		{"MultiStep(0.1, 2, 5)", optim.MultiStep(0.1, 2, 5), map[int]float64{0: 1, 1: 1, 2: 0.1, 4: 0.1, 5: 0.01, 99: 0.01}},
		{"MultiStep(0.1)", optim.MultiStep(0.1), map[int]float64{0: 1, 99: 1}},
		{"Exponential(0.5)", optim.Exponential(0.5), map[int]float64{0: 1, 3: 0.125}},
		{"Polynomial(10, 2)", optim.Polynomial(10, 2), map[int]float64{0: 1, 5: 0.25, 10: 0, 99: 0}},
		{"Constant(3, 0.25)", optim.Constant(3, 0.25), map[int]float64{0: 0.25, 2: 0.25, 3: 1}},
		{"Rise(0.2, 4, nil)", optim.Rise(0.2, 4, nil), map[int]float64{0: 0.2, 2: 0.6, 4: 1, 9: 1}},
		{"Sequence", optim.Sequence(optim.Exponential(0.5), 2, optim.Linear(2, 0)), map[int]float64{1: 0.5, 2: 1, 3: 0.5, 4: 0}},
		{"WarmRestarts(4, 1, 0)", optim.WarmRestarts(4, 1, 0), map[int]float64{0: 1, 2: 0.5, 4: 1, 1_000_002: 0.5}},
		{"WarmRestarts(2, 3, 0.5)", optim.WarmRestarts(2, 3, 0.5), map[int]float64{0: 1, 1: 0.75, 2: 1, 5: 0.75, 8: 1, 17: 0.75}},
		{"WarmRestarts(4, MaxInt, 0.5)", optim.WarmRestarts(4, math.MaxInt, 0.5), map[int]float64{0: 1, 4: 1, math.MaxInt: 0.5}},
		{"OneCycle(10)", optim.OneCycle(10), map[int]float64{0: 0.04, 2: 1, 9: 4e-6, 99: 4e-6}},
		{"OneCycle(1)", optim.OneCycle(1), map[int]float64{0: 4e-6}},
		{"Warmup(4, Linear(10, 0))", optim.Warmup(4, optim.Linear(10, 0)), map[int]float64{3: 1, 4: 1, 9: 0.5, 14: 0}},
	} {
		for step, want := range c.want {
			if got := c.f(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s(%d) = %v, want %v", c.name, step, got, want)
			}
		}
	}
}

// Schedules begin and end at exactly the factors they are given.
func TestEndsOfSchedules(t *testing.T) {
	for i := range 1000 {
		floor, n := float64(i)/1000, 3*i+1
		for name, s := range map[string]func(int) float64{
			"Cosine": optim.Cosine(n, floor), "Linear": optim.Linear(n, floor), "WarmRestarts": optim.WarmRestarts(n, 1, floor),
		} {
			if s(0) != 1 || name != "WarmRestarts" && s(n) != floor {
				t.Errorf("%s(%d, %v) goes from %v to %v", name, n, floor, s(0), s(n))
			}
		}
		if s := optim.Rise(floor, n, nil); s(0) != floor || s(n) != 1 {
			t.Errorf("Rise(%v, %d) goes from %v to %v", floor, n, s(0), s(n))
		}
	}
}

func TestScheduleMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"optim.StepDecay: the number of steps is 0, want at least 1":    func() { optim.StepDecay(0, 0.1) },
		"optim.WarmRestarts: the number of steps is 0, want at least 1": func() { optim.WarmRestarts(3, 0, 0) },
		"optim.OneCycle: the number of steps is -1, want at least 1":    func() { optim.OneCycle(-1) },
		"optim.MultiStep: the steps [5 2] do not ascend":                func() { optim.MultiStep(0.1, 5, 2) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want …%s", err, want)
		}
	}
}

// Rules compute 16-bit parameters in float32: ε is not 0, and a gradient of 0 leaves
// the parameters as they are.
func TestHalves(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		for _, rule := range []optim.Rule{optim.Adam{}, optim.AdamW{}, optim.SGD{Momentum: 0.9}, optim.RMSprop{}, optim.Adagrad{}, optim.NAdam{}, optim.RAdam{}} {
			w := tensor.New([]float32{1, 2}).Cast(d)
			o := optim.New(rule, 0.5)
			for range 2 {
				if err := o.Step(&w, tensor.New([]float32{1, 0}).Cast(d)); err != nil {
					t.Fatal(err)
				}
			}
			if got := floats(t, w.Cast(tensor.Float32)); w.DType() != d || !(got[0] < 0.5) || got[1] != 2 {
				t.Errorf("two steps of %T: %v %v, want %v that is less than 0.5, and 2", rule, w.DType(), got, d)
			}
		}
	}
}
