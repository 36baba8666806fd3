package jit

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// An arg is an argument of recorded functions.
type arg struct {
	X   tensor.Tensor
	N   int
	RNG *tensor.RNG
}

func values(x ...float32) tensor.Tensor { return tensor.New(x) }

// double is F of a test: 2·x, plus N.
func double(p arg, _ []tensor.Tensor, _ *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
	return p.X.Mul(2).Add(p.N), nil, nil
}

// counted returns a function that counts the runs of F.
func counted[P, R any](f func(P, []tensor.Tensor, *Trace) (R, [][]tensor.Tensor, error)) (*Func[P, R], *int) {
	runs := new(int)
	return &Func[P, R]{Op: "grad.Jit", F: func(p P, list []tensor.Tensor, t *Trace) (R, [][]tensor.Tensor, error) {
		*runs++
		return f(p, list, t)
	}}, runs
}

// A function is recorded when it is first used, or used the second time, and then compared
// with itself once more.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		onSecondUse bool
		runs        []int // after each call
	}{
		{false, []int{2, 2, 2, 2}},
		{true, []int{0, 2, 3, 3}},
	} {
		f, runs := counted(double)
		f.OnSecondUse = c.onSecondUse
		for i, want := range c.runs {
			v := float32(i)
			got, _, err := f.Call(arg{X: values(v, v+1)}, nil, nil)
			switch {
			case *runs != want:
				t.Errorf("OnSecondUse %v: F ran %d times in %d calls, want %d", c.onSecondUse, *runs, i+1, want)
			case want == 0 && err != ErrUnrecorded:
				t.Errorf("OnSecondUse %v: the first call returned %v, want ErrUnrecorded", c.onSecondUse, err)
			case want > 0 && (err != nil || got.String() != values(2*v, 2*v+2).String()):
				t.Errorf("OnSecondUse %v: call %d returned %v, %v", c.onSecondUse, i, got, err)
			}
		}
	}
}

// Arguments of another form have a recording of their own.
func TestForms(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	f, runs := counted(double)
	table := tensor.Arange(12).Cast(tensor.Float32).Reshape(3, 4).Keep()
	if err := tensor.Eval(table); err != nil {
		t.Fatal(err)
	}
	call := func(p arg) {
		t.Helper()
		got, _, err := f.Call(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.X.Mul(2).Add(p.N); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("of %+v: %+v, want %+v", p, got, want)
		}
	}
	base := arg{X: table.Slice(0, 0, 2)}
	call(base)
	for _, c := range []struct {
		name  string
		p     arg
		again bool // F runs
	}{
		{"other values", arg{X: table.Slice(0, 1, 3)}, false},
		{"a value that is not computed", arg{X: table.Add(1).Slice(0, 0, 2)}, false},
		{"another shape", arg{X: table}, true},
		{"another layout", arg{X: tensor.New(make([]float32, 8), 4, 2).T()}, true},
		{"another offset", arg{X: table.Slice(1, 1, 3)}, true},
		{"another type", arg{X: tensor.New(make([]float64, 8), 2, 4)}, true},
		{"the host's", arg{X: tensor.New(make([]float32, 8), 2, 4)}, true},
		{"the default device's", arg{X: base.X.To(tensor.Default())}, true},
		{"another device's", arg{X: tensor.New(make([]float32, 8), 2, 4).To(d)}, true},
		{"another number", arg{X: base.X, N: 1}, true},
	} {
		for i, again := range []bool{c.again, false} {
			before := *runs
			if call(c.p); *runs > before != again {
				t.Errorf("%s, call %d: F ran %d times", c.name, i, *runs-before)
			}
		}
		before := *runs
		if call(base); *runs > before {
			t.Errorf("the first form ran F after %s", c.name)
		}
	}
	before := *runs
	tensor.SetDefault(d)
	defer tensor.SetDefault(nil)
	if call(arg{X: tensor.New(make([]float32, 8), 2, 4)}); *runs == before {
		t.Error("another default device: F did not run")
	}
}

// Functions that are not recorded, and how often they run in three calls.
func TestUnrecorded(t *testing.T) {
	rng, n := tensor.NewRNG(1), 0
	type result = []tensor.Tensor
	for _, c := range []struct {
		name string
		f    func(p arg) (result, error)
		runs int
	}{
		{"an RNG of its own", func(p arg) (result, error) { return result{p.X.Add(rng.Normal(2))}, nil }, 2},
		{"a count", func(p arg) (result, error) { n++; return result{p.X.Mul(n)}, nil }, 2},
		{"a count in the graph", func(p arg) (result, error) {
			if n++; n%2 == 0 {
				return result{p.X.Neg()}, nil
			}
			return result{p.X.Exp()}, nil
		}, 2},
		{"a tensor of its own", func(p arg) (result, error) { n++; return result{p.X.Mul(values(float32(n)))}, nil }, 2},
		{"a count of results", func(p arg) (result, error) { n++; return make(result, 1+n%2, 2), nil }, 1},
		{"a result that is given", func(p arg) (result, error) { n++; return result{p.X.Neg(), values(float32(n))}, nil }, 2},
		{"nothing to compute", func(p arg) (result, error) { return result{values(1)}, nil }, 1},
		{"a function on the host that is like no other", func(p arg) (result, error) {
			run := func(out graph.HostArray, in []graph.HostArray) error { copy(out.Data, in[0].Data); return nil }
			return result{tensor.Internal.HostCall(graph.Token{}, "jit.test", 2, nil, run, p.X)}, nil
		}, 2},
		{"it says so", func(p arg) (result, error) { return nil, ErrUnrecorded }, 1},
	} {
		f, runs := counted(func(p arg, _ []tensor.Tensor, _ *Trace) (result, [][]tensor.Tensor, error) {
			r, err := c.f(p)
			return r, nil, err
		})
		for range 3 {
			if r, _, err := f.Call(arg{X: values(1, 2)}, nil, nil); err != ErrUnrecorded {
				t.Errorf("%s: %v, %v, want ErrUnrecorded", c.name, r, err)
			}
		}
		if *runs != c.runs {
			t.Errorf("%s: F ran %d times, want %d", c.name, *runs, c.runs)
		}
	}
}

// A change since a function was recorded, on second use, keeps it from being replayed.
func TestChanged(t *testing.T) {
	factor := 2
	f, runs := counted(func(p arg, _ []tensor.Tensor, _ *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
		return p.X.Mul(factor), nil, nil
	})
	f.OnSecondUse = true
	p := arg{X: values(1, 2)}
	for i, want := range []struct {
		factor int
		err    error
		runs   int
	}{{2, ErrUnrecorded, 0}, {2, nil, 2}, {3, ErrUnrecorded, 3}, {2, ErrUnrecorded, 3}} {
		factor = want.factor
		if _, _, err := f.Call(p, nil, nil); err != want.err || *runs != want.runs {
			t.Errorf("call %d: %v after %d runs of F, want %v after %d", i, err, *runs, want.err, want.runs)
		}
	}
}

// Arguments that have no value, or that are differentiated, are the caller's.
func TestTracedArgument(t *testing.T) {
	f, runs := counted(double)
	x := graph.Fill(ir.Float32, 1, []int{2})
	closed := &graph.Scope{PlaceholdersOf: "grad.Vmap"}
	closed.Close()
	for name, s := range map[string]*graph.Scope{"a placeholder": {PlaceholdersOf: "grad.Vmap"}, "one of a function that has returned": closed, "a differentiated one": {}} {
		defer s.Close()
		p := arg{X: tensor.Internal.Tensor(graph.Token{}, graph.Argument(x, s))}
		if _, _, err := f.Call(p, nil, nil); err != ErrUnrecorded || *runs > 0 {
			t.Errorf("%s: %v after %d runs of F, want ErrUnrecorded after none", name, err, *runs)
		}
	}
}

// An error of F is the call's, and the next call runs F again.
func TestError(t *testing.T) {
	for _, onSecondUse := range []bool{false, true} {
		failure := errors.New("F fails")
		var fails error
		f, runs := counted(func(p arg, _ []tensor.Tensor, _ *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
			return p.X.Neg(), nil, fails
		})
		f.OnSecondUse = onSecondUse
		p := arg{X: values(1, 2)}
		if onSecondUse {
			f.Call(p, nil, nil)
		}
		for i, fail := range []error{failure, failure, nil} {
			fails = fail
			before := *runs
			if _, _, err := f.Call(p, nil, nil); err != fail || *runs == before {
				t.Errorf("call %d: %v after %d runs of F, want %v after some", i, err, *runs-before, fail)
			}
		}
	}
}

// The forms that were used last are kept.
func TestMaxForms(t *testing.T) {
	f, runs := counted(double)
	x := values(1, 2)
	call := func(n int) (ran bool) {
		t.Helper()
		before := *runs
		if _, _, err := f.Call(arg{X: x, N: n}, nil, nil); err != nil {
			t.Fatal(err)
		}
		return *runs > before
	}
	for n := range maxForms {
		call(n)
	}
	if call(0) {
		t.Errorf("form 0 of %d was dropped", maxForms)
	}
	call(maxForms) // drops 1, the one used least recently
	for _, c := range []struct {
		n    int
		runs bool
	}{{0, false}, {2, false}, {maxForms, false}, {1, true}} {
		if ran := call(c.n); ran != c.runs {
			t.Errorf("form %d of %d: F ran: %v, want %v", c.n, maxForms+1, ran, c.runs)
		}
	}
	if len(f.forms) != maxForms {
		t.Errorf("%d forms are kept, want %d", len(f.forms), maxForms)
	}
}

// Lists have computed, given, constant and absent tensors.
func TestLists(t *testing.T) {
	constant := values(7)
	f, runs := counted(func(p arg, list []tensor.Tensor, _ *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
		sum := list[0].Add(list[1])
		return sum.Add(p.X), [][]tensor.Tensor{{sum, {}, constant}, {}, {list[1].Neg(), p.X}, {sum}}, nil
	})
	for i := range 3 {
		v := float32(i)
		r, lists, err := f.Call(arg{X: values(v)}, []tensor.Tensor{values(10 * v), values(100), {}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v == 2 && *runs != 2 {
			t.Errorf("F ran %d times, want 2", *runs)
		}
		var got []string
		for _, list := range lists {
			got = append(got, "|")
			for _, x := range list {
				if !x.IsValid() {
					got = append(got, "absent")
					continue
				}
				got = append(got, fmt.Sprint(x))
			}
			if cap(list) != len(list) {
				t.Errorf("a list of %d tensors has room for %d: append would overwrite the next", len(list), cap(list))
			}
		}
		sum := 10*v + 100
		want := fmt.Sprintf("[| [%v] absent [7] | | [-100] [%v] | [%v]] [%v]", sum, v, sum, sum+v)
		if text := fmt.Sprint(got, r); text != want {
			t.Errorf("call %d: %s, want %s", i, text, want)
		}
	}
}

// A function that divides its results into other lists each time is not recorded.
func TestOtherLists(t *testing.T) {
	n := 0
	f, runs := counted(func(p arg, _ []tensor.Tensor, _ *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
		n++
		list := []tensor.Tensor{p.X.Neg(), p.X.Exp(), p.X.Sqrt()}
		return p.X.Add(1), [][]tensor.Tensor{list[:1+n%2], list[1+n%2:]}, nil
	})
	for range 2 {
		if _, _, err := f.Call(arg{X: values(1, 2)}, nil, nil); err != ErrUnrecorded || *runs != 2 {
			t.Errorf("%v after %d runs of F, want ErrUnrecorded after 2", err, *runs)
		}
	}
}

// A rate is a number of each call, in one of several graphs.
type rate struct {
	number float64
	graph  int
	err    error
}

// trace is F: g·x for a rate g, plus the number of the graph.
func (r *rate) trace(p arg, _ []tensor.Tensor, t *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
	scalar := graph.Scalar(ir.Float32, ir.Float(ir.Float32, r.number), []int{1})
	recorded := r.graph
	t.Numbers = []*graph.Node{scalar}
	t.Values = func() ([]ir.Number, bool, error) {
		return []ir.Number{ir.Float(ir.Float32, r.number)}, r.graph == recorded, r.err
	}
	return p.X.Mul(tensor.Internal.Tensor(graph.Token{}, scalar)).Add(recorded), nil, nil
}

// Numbers change from call to call. Where Values says that a call's numbers belong to
// another graph, that is recorded too, up to a number of graphs.
func TestValues(t *testing.T) {
	var r rate
	f, runs := counted(r.trace)
	call := func(number float64, graph int) (ran bool, err error) {
		t.Helper()
		r.number, r.graph = number, graph
		before := *runs
		got, _, err := f.Call(arg{X: values(1)}, nil, nil)
		if want := number + float64(graph); err == nil && got.Item() != want {
			t.Errorf("of rate %v and graph %d: %v, want %v", number, graph, got, want)
		}
		return *runs > before, err
	}
	for g := range maxGraphs {
		for i, number := range []float64{2, 3, 4} {
			if ran, err := call(number, g); ran != (i == 0) || err != nil {
				t.Errorf("rate %v of graph %d: %v; F ran: %v", number, g, err, ran)
			}
		}
	}
	if ran, err := call(5, 0); ran || err != nil {
		t.Errorf("the first graph again: %v; F ran: %v", err, ran)
	}
	for range 2 {
		if ran, err := call(5, maxGraphs); ran || err != ErrUnrecorded {
			t.Errorf("graph %d: %v; F ran: %v, want ErrUnrecorded without a run", maxGraphs, err, ran)
		}
	}
}

// Values may refuse the numbers of the call that is recorded, and may fail.
func TestValuesRefuse(t *testing.T) {
	f, runs := counted(func(p arg, _ []tensor.Tensor, t *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
		t.Values = func() ([]ir.Number, bool, error) { return nil, false, nil }
		return p.X.Neg(), nil, nil
	})
	for range 3 {
		if _, _, err := f.Call(arg{X: values(1)}, nil, nil); err != ErrUnrecorded || *runs != 2 {
			t.Errorf("%v after %d runs of F, want ErrUnrecorded after 2", err, *runs)
		}
	}
	r := rate{err: errors.New("no numbers")}
	g, _ := counted(r.trace)
	if _, _, err := g.Call(arg{X: values(1)}, nil, nil); err != r.err {
		t.Errorf("%v, want %v", err, r.err)
	}
}

// An RNG of the argument goes on from call to call, and so does one of the result.
func TestRNG(t *testing.T) {
	type result struct {
		Y   tensor.Tensor
		RNG *tensor.RNG
	}
	draw := func(p arg, _ []tensor.Tensor, _ *Trace) (result, [][]tensor.Tensor, error) {
		return result{p.X.Add(p.RNG.Normal(2)).Add(p.RNG.Uniform(2)), p.RNG}, nil, nil
	}
	f, runs := counted(draw)
	x, rng, own := values(1, 2), tensor.NewRNG(3), tensor.NewRNG(3)
	for i := range 4 {
		got, _, err := f.Call(arg{X: x, RNG: rng}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := draw(arg{X: x, RNG: own}, nil, nil)
		if got.Y.String() != want.Y.String() || rng.Count != own.Count || got.RNG.Count != own.Count {
			t.Errorf("call %d: %v after %d and %d keys, want %v after %d", i, got.Y, rng.Count, got.RNG.Count, want.Y, own.Count)
		}
	}
	if *runs != 2 {
		t.Errorf("F ran %d times, want 2", *runs)
	}
}

// Goroutines call one function with arguments of several forms.
func TestConcurrent(t *testing.T) {
	for _, onSecondUse := range []bool{false, true} {
		var runs atomic.Int64
		f := Func[arg, tensor.Tensor]{Op: "grad.Jit", OnSecondUse: onSecondUse, F: func(p arg, list []tensor.Tensor, t *Trace) (tensor.Tensor, [][]tensor.Tensor, error) {
			runs.Add(1)
			return double(p, list, t)
		}}
		var replays atomic.Int64
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 30 {
					x, n := float32(g*i), i%3
					got, _, err := f.Call(arg{X: values(x), N: n}, nil, nil)
					switch {
					case err == ErrUnrecorded && onSecondUse:
						continue
					case err != nil:
						t.Error(err)
						return
					}
					replays.Add(1)
					if want := float64(2*x) + float64(n); got.Item() != want {
						t.Errorf("of %v, %d: %v, want %v", x, n, got, want)
					}
				}
			})
		}
		wg.Wait()
		if replays.Load() < 8*30/2 {
			t.Errorf("OnSecondUse %v: %d of %d calls were replayed, F ran %d times", onSecondUse, replays.Load(), 8*30, runs.Load())
		}
	}
}
