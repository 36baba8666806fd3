package optim_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// floats are the elements of a tensor of float32.
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

type pair struct{ A, B tensor.Tensor }

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

// Steps after a restart are those that would have come without one.
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

func TestStepMisuse(t *testing.T) {
	m, o := newPair(), optim.New(optim.SGD{}, 1)
	row, half := newPair(), newPair()
	row.A, half.B = tensor.Ones(1), half.B.Cast(tensor.Float16)
	for _, c := range []struct {
		err  error
		want string
	}{
		{o.Step(m, m), "want a pointer to the model"},
		{o.Step(&m, m.A), "want the same type"},
		{o.Step(&m, row), `parameter "a", float32 [2], with a gradient that is float32 [1]`},
		{o.Step(&m, half), `parameter "b", float32 [1], with a gradient that is float16 [1]`},
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

// A step of other numbers compiles nothing.
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
	value := optim.ClipValue(g, 3.5)
	if got, want := append(floats(t, value.A), floats(t, value.B)...), []float32{3, 0, -3.5}; !near(got, want) {
		t.Errorf("ClipValue(g, 3.5) = %v, want %v", got, want)
	}
	if absent := optim.ClipNorm(pair{}, 1); absent.A.IsValid() {
		t.Error("ClipNorm of absent gradients made one")
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
		{"Warmup(4, Linear(10, 0))", optim.Warmup(4, optim.Linear(10, 0)), map[int]float64{3: 1, 4: 1, 9: 0.5, 14: 0}},
	} {
		for step, want := range c.want {
			if got := c.f(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s(%d) = %v, want %v", c.name, step, got, want)
			}
		}
	}
}
