package golden

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// These tests compute random expressions in several modes and compare each
// result with PyTorch's. testdata/differential/generate.py writes the cases.

// A target is the device under test. Its tolerance is slack times the case's,
// plus floor.
type target struct {
	d            *tensor.Device
	gpu          bool
	slack, floor float64
}

func newTarget(t *testing.T) *target {
	t.Helper()
	d, _, atol := openDevice(t)
	if d == tensor.CPU() {
		return &target{d: d, slack: 1}
	}
	return &target{d: d, gpu: true, slack: 64, floor: atol}
}

// each calls f for every case on the CPU, with -short for every sixth, and for about 40 on a GPU, where each
// case compiles several shaders.
func (tg *target) each(t *testing.T, cases []testCase, f func(c testCase, in []tensor.Tensor) error) {
	const few = 40
	every := 1
	switch {
	case tg.gpu:
		every = max(1, len(cases)/few)
	case testing.Short():
		every = 6
	}
	for i, c := range cases {
		if i%every != 0 || tg.gpu && c.wide() {
			continue
		}
		if err := tg.run(c, f); err != nil {
			t.Errorf("case %d, %s: %v", i, c.summary(), err)
		}
	}
}

func (tg *target) run(c testCase, f func(c testCase, in []tensor.Tensor) error) (err error) {
	defer tensor.Catch(&err)
	in, err := tg.tensors(pointers(c.Inputs))
	if err != nil {
		return err
	}
	return f(c, in)
}

// lacks reports whether GPUs lack an element type.
func lacks(dtype string) bool { return dtype == "int64" || dtype == "float64" }

// wide reports whether a case needs element types that GPUs lack.
func (c testCase) wide() bool {
	return slices.ContainsFunc(c.Inputs, func(a array) bool { return lacks(a.DType) }) ||
		slices.ContainsFunc(c.Steps, func(s step) bool { return lacks(arg(s.Args, "dtype", "")) })
}

// summary formats a case in one line: its numbered inputs and steps.
func (c testCase) summary() string {
	if c.Steps == nil {
		return fmt.Sprintf("%s %s", c.Op, c.Args)
	}
	var text strings.Builder
	for i, a := range c.Inputs {
		fmt.Fprintf(&text, "%d: %s %v; ", i, a.DType, a.Shape)
	}
	for i, s := range c.Steps {
		fmt.Fprintf(&text, "%d: %s %s of %v; ", len(c.Inputs)+i, s.Op, s.Args, s.In)
	}
	return text.String()
}

// tensors converts arrays; a null array gives the absent tensor.
func (tg *target) tensors(arrays []*array) ([]tensor.Tensor, error) {
	ts := make([]tensor.Tensor, len(arrays))
	for i, a := range arrays {
		if a == nil {
			continue
		}
		var err error
		if ts[i], err = a.tensor(tg.d); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

func (tg *target) compare(got tensor.Tensor, want array) error {
	return compare(got, want, tg.slack*want.Tol[0], tg.slack*want.Tol[1]+tg.floor)
}

// compareAll evaluates got in one plan and compares it with want. A null array
// is not compared.
func (tg *target) compareAll(got []tensor.Tensor, want []*array) error {
	if err := tensor.Eval(got); err != nil {
		return err
	}
	for i, w := range want {
		if w == nil {
			continue
		}
		if err := tg.compare(got[i], *w); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// A mode is one method of computing the results of a problem.
type mode struct {
	name    string
	results func(p problem) []tensor.Tensor
}

// A problem is a case whose arrays are tensors on a device.
type problem struct {
	testCase
	in        []tensor.Tensor
	cotangent tensor.Tensor
	direction []tensor.Tensor
}

// loss is the function whose gradients the case holds: sum(result·cotangent).
func (p problem) loss(in []tensor.Tensor) tensor.Tensor {
	return p.expression(in)[0].Mul(p.cotangent).Sum()
}

// compareModes compares the results of every mode with want; on a GPU, of the
// first mode only.
func (tg *target) compareModes(modes []mode, p problem, want []*array) error {
	if tg.gpu {
		modes = modes[:1]
	}
	for _, m := range modes {
		if err := tg.compareAll(m.results(p), want); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func pointers(arrays []array) []*array {
	ps := make([]*array, len(arrays))
	for i := range arrays {
		ps[i] = &arrays[i]
	}
	return ps
}

var valueModes = []mode{
	{"in one plan", func(p problem) []tensor.Tensor { return p.expression(p.in) }},
	{"each alone", func(p problem) []tensor.Tensor {
		out := make([]tensor.Tensor, len(p.Outputs))
		for i := range out {
			out[i] = p.expression(p.in)[i]
			if err := tensor.Eval(out[i]); err != nil {
				panic(err)
			}
		}
		return out
	}},
	{"first example of Vmap", func(p problem) []tensor.Tensor { return p.example(0, len(p.in)) }},
	{"last example of Vmap by one input", func(p problem) []tensor.Tensor { return p.example(2, 1) }},
}

// example computes a batch of three examples by Vmap and returns example k.
// Examples 0 and 2 are the case; example 1 has the first n inputs reversed. The
// other inputs are captured, so all examples share them.
func (p problem) example(k, n int) []tensor.Tensor {
	examples := make([]tensor.Tensor, n)
	for i, x := range p.in[:n] {
		examples[i] = tensor.Stack(0, x, x.Flip(), x)
	}
	out := grad.Vmap(func(ex []tensor.Tensor) []tensor.Tensor {
		return p.expression(append(ex, p.in[n:]...))
	})(examples)
	for i, y := range out {
		out[i] = y.At(k)
	}
	return out
}

func TestDifferentialValues(t *testing.T) {
	tg := newTarget(t)
	tg.each(t, readCases(t, "testdata/differential/values.json.gz"), func(c testCase, in []tensor.Tensor) error {
		return tg.compareModes(valueModes, problem{testCase: c, in: in}, pointers(c.Outputs))
	})
}

var gradientModes = []mode{
	{"ValueAndGrad", func(p problem) []tensor.Tensor {
		_, g := grad.ValueAndGrad(p.loss)(p.in)
		return g
	}},
	{"Of a Checkpoint", func(p problem) []tensor.Tensor { return grad.Of(grad.Checkpoint(p.loss))(p.in) }},
	{"VJP", func(p problem) []tensor.Tensor {
		_, pull := grad.VJP(func(in []tensor.Tensor) tensor.Tensor { return p.expression(in)[0] }, p.in)
		return pull(p.cotangent)
	}},
}

func TestDifferentialGradients(t *testing.T) {
	tg := newTarget(t)
	tg.each(t, readCases(t, "testdata/differential/gradients.json.gz"), func(c testCase, in []tensor.Tensor) error {
		ct, err := c.Cotangent.tensor(tg.d)
		if err != nil {
			return err
		}
		p := problem{testCase: c, in: in, cotangent: ct}
		if err := tg.compareModes(gradientModes, p, c.Grads); err != nil || tg.gpu {
			return err
		}
		return tg.compareJVP(p)
	})
}

// compareJVP compares the directional derivative of the loss with the inner
// product of the case's gradients and the direction.
func (tg *target) compareJVP(p problem) error {
	v := make([]tensor.Tensor, len(p.in))
	var want, tol float64
	for i, g := range p.Grads {
		if g == nil {
			continue
		}
		w, err := g.numbers()
		if err != nil {
			return err
		}
		direction := make([]float64, len(w))
		for k := range w {
			x := float64(k%5-2) / 2
			direction[k] = x
			want += x * w[k]
			tol += math.Abs(x) * (tg.slack*(g.Tol[0]*math.Abs(w[k])+g.Tol[1]) + tg.floor)
		}
		v[i] = dtypes[g.DType].from(direction).Reshape(g.Shape...).To(tg.d)
	}
	_, d := grad.JVP(p.loss, p.in, v)
	got, err := values(d)
	if err != nil {
		return err
	}
	if !near(got[0], want, 0, tol) {
		return fmt.Errorf("JVP: got %v, want %v (±%v)", got[0], want, tol)
	}
	return nil
}

var hessianModes = []mode{
	{"forward over reverse", func(p problem) []tensor.Tensor { return grad.HVP(p.loss, p.in, p.direction) }},
	{"reverse over forward", func(p problem) []tensor.Tensor {
		return grad.Of(func(in []tensor.Tensor) tensor.Tensor {
			_, d := grad.JVP(p.loss, in, p.direction)
			return d
		})(p.in)
	}},
	{"reverse over reverse", func(p problem) []tensor.Tensor {
		return grad.Of(func(in []tensor.Tensor) (sum tensor.Tensor) {
			for i, g := range grad.Of(p.loss)(in) {
				if !p.direction[i].IsValid() {
					continue
				}
				along := g.Mul(p.direction[i]).Sum()
				if sum.IsValid() {
					along = along.Add(sum)
				}
				sum = along
			}
			return sum
		})(p.in)
	}},
}

func TestDifferentialHessians(t *testing.T) {
	tg := newTarget(t)
	tg.each(t, readCases(t, "testdata/differential/hessians.json.gz"), func(c testCase, in []tensor.Tensor) error {
		ct, err := c.Cotangent.tensor(tg.d)
		if err != nil {
			return err
		}
		v, err := tg.tensors(c.Direction)
		if err != nil {
			return err
		}
		return tg.compareModes(hessianModes, problem{c, in, ct, v}, c.Grads)
	})
}
