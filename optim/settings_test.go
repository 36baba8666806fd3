package optim_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

var allRules = []optim.Rule{
	optim.SGD{}, optim.Adam{}, optim.AdamW{}, optim.Adamax{}, optim.NAdam{}, optim.RAdam{}, optim.LAMB{}, optim.RMSprop{},
	optim.Adagrad{}, optim.Adadelta{}, optim.ASGD{}, optim.Lion{}, optim.Rprop{}, optim.Muon{},
}

// eachSetting calls f with copies of a struct, in each of which one number is x.
func eachSetting(v any, x float64, f func(name string, v reflect.Value)) {
	for i := range reflect.TypeOf(v).NumField() {
		c := reflect.New(reflect.TypeOf(v)).Elem()
		c.Set(reflect.ValueOf(v))
		switch field := c.Field(i); {
		case !c.Type().Field(i).IsExported():
			continue
		case field.Kind() == reflect.Float64:
			field.SetFloat(x)
		case field.Kind() == reflect.Int && !math.IsNaN(x) && !math.IsInf(x, 0):
			field.SetInt(int64(x))
		default:
			continue
		}
		f(c.Type().Field(i).Name, c)
	}
}

// No number of a rule, an optimizer or a schedule may be NaN, infinite or negative.
func TestSettings(t *testing.T) {
	found := 0
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -2} {
		step := func(call, name string, o *optim.Optimizer) {
			found++
			w := tensor.New([]float32{1, 2})
			if err := o.Step(&w, tensor.New([]float32{1, 1})); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("Step with %s: %v, want an error of %s", call, err, name)
			}
		}
		for _, r := range allRules {
			eachSetting(r, x, func(name string, v reflect.Value) {
				step(fmt.Sprintf("%+v", v), name, optim.New(v.Interface().(optim.Rule), 0.1))
			})
		}
		eachSetting(optim.Scaling{}, x, func(name string, v reflect.Value) {
			o := optim.New(optim.SGD{}, 0.1)
			o.Scaling = v.Interface().(optim.Scaling)
			step(fmt.Sprintf("Scaling %+v", v), name, o)
		})
		step(fmt.Sprint("LR ", x), "LR", optim.New(optim.SGD{}, x))
		scheduled := optim.New(optim.SGD{}, 0.1)
		scheduled.Schedule = func(int) float64 { return x }
		step(fmt.Sprint("a factor ", x), "Schedule", scheduled)
		grouped := optim.New(optim.SGD{}, 0.1)
		grouped.Groups = optim.Groups{{Names: "*", LR: x}}
		step(fmt.Sprint("a group of LR ", x), "LR", grouped)

		eachSetting(optim.LBFGS{}, x, func(name string, v reflect.Value) {
			found++
			o, w := v.Addr().Interface().(*optim.LBFGS), tensor.New([]float32{1})
			_, err := optim.Minimize(o, &w, func(w tensor.Tensor) tensor.Tensor { return w.Square().Sum() })
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("Minimize with %s %v: %v, want an error", name, x, err)
			}
		})
		eachSetting(optim.Plateau{}, x, func(name string, v reflect.Value) {
			found++
			p := v.Addr().Interface().(*optim.Plateau)
			if err := tensor.Try(func() { p.Observe(1) }); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("Plateau with %s %v: %v, want an error", name, x, err)
			}
		})
		averaged := optim.Averaged[tensor.Tensor]{Decay: x}
		if err := averaged.Add(tensor.Ones(1)); err == nil {
			t.Errorf("Averaged with Decay %v: no error", x)
		}
		for name, f := range map[string]func(){
			"Cosine": func() { optim.Cosine(9, x) }, "Linear": func() { optim.Linear(9, x) }, "StepDecay": func() { optim.StepDecay(9, x) },
			"MultiStep": func() { optim.MultiStep(x, 1) }, "Exponential": func() { optim.Exponential(x) },
			"Polynomial": func() { optim.Polynomial(9, x) }, "Constant": func() { optim.Constant(9, x) }, "Rise": func() { optim.Rise(x, 9, nil) },
			"WarmRestarts": func() { optim.WarmRestarts(9, 1, x) },
			"Average":      func() { optim.Average(tensor.Ones(1), tensor.Ones(1), x) },
		} {
			found++
			if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), "optim."+name) {
				t.Errorf("%s of %v: %v, want an error", name, x, err)
			}
		}
	}
	for name, f := range map[string]func(){
		"Cosine": func() { optim.Cosine(-1, 0) }, "Linear": func() { optim.Linear(-1, 0) }, "Polynomial": func() { optim.Polynomial(-1, 1) },
		"Warmup": func() { optim.Warmup(-1, nil) }, "Constant": func() { optim.Constant(-1, 1) }, "Rise": func() { optim.Rise(0, -1, nil) },
		"Sequence": func() { optim.Sequence(nil, 1, nil) }, "OneCycle": func() { optim.OneCycle(0) },
		"Jit":          func() { optim.Jit[tensor.Tensor, int](optim.New(optim.SGD{}, 1), nil) },
		"ValueAndGrad": func() { optim.ValueAndGrad[tensor.Tensor](nil, func(m tensor.Tensor) tensor.Tensor { return m }) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), "settings_test.go") || !strings.Contains(err.Error(), "optim."+name) {
			t.Errorf("%s: %v, want an error with the line", name, err)
		}
	}
	w := tensor.Ones(1)
	if err := (*optim.Optimizer)(nil).Step(&w, w); err == nil {
		t.Error("Step of a nil *Optimizer: no error")
	}
	if _, err := optim.Minimize(&optim.LBFGS{}, &w, nil); err == nil {
		t.Error("Minimize of a nil loss: no error")
	}
	if found < 200 {
		t.Errorf("%d settings, want at least 200", found)
	}
}

// Adaptive rules step by the same at all scales of gradients above their ε.
func TestRulesAtAllScales(t *testing.T) {
	for _, r := range allRules {
		switch r.(type) {
		case optim.SGD, optim.ASGD, optim.Adadelta, optim.RAdam: // whose first steps are as large as gradients, or grow with them
			continue
		}
		var want []float32
		for _, scale := range []float64{1, 1e10, 1e19, 1e25, 1e30} {
			w := tensor.New([]float32{1, 2, 3, 4}).Reshape(2, 2)
			o := optim.New(r, 0.1)
			for range 3 {
				if err := o.Step(&w, tensor.New([]float64{1 * scale, 1 * scale, -1 * scale, 1 * scale}).Cast(tensor.Float32).Reshape(2, 2)); err != nil {
					t.Fatal(err)
				}
			}
			got := floats(t, w)
			if want == nil {
				want = got
			}
			for i := range want {
				if !(math.Abs(float64(got[i]-want[i])) < 1e-3) {
					t.Errorf("%T: gradients of %v make %v, of 1 %v", r, scale, got, want)
					break
				}
			}
		}
	}
}

// A gradient of 0 moves nothing, whatever ε is, of which float32 lacks the least.
func TestRulesOfNoGradient(t *testing.T) {
	for _, r := range allRules {
		v := reflect.New(reflect.TypeOf(r)).Elem()
		eps := v.FieldByName("Eps")
		for _, e := range []float64{1e-8, 1e-40, 1e-300} {
			if eps.IsValid() {
				eps.SetFloat(e)
			}
			w := tensor.Ones(2, 2)
			if err := optim.New(v.Interface().(optim.Rule), 0.1).Step(&w, tensor.Zeros(2, 2)); err != nil {
				t.Fatal(err)
			}
			for _, x := range floats(t, w) {
				if !(math.Abs(float64(x)-1) < 1e-4) { // ASGD decays
					t.Errorf("%T with Eps %v moves 1 to %v", r, e, x)
				}
			}
		}
	}
}

func TestClipNormAtAllScales(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		for _, scale := range []float64{1e-30, 1e-20, 1e-8, 1, 1e20, 1e30} {
			g := tensor.New([]float64{3 * scale, 4 * scale}).Cast(d)
			if got := optim.TotalNorm(g).Item(); !(math.Abs(got/scale-5) < 0.05) {
				t.Errorf("TotalNorm of %v %v is %v", d, g, got)
			}
			for _, limit := range []float64{1, 10, scale, 10 * scale} {
				f := min(1, limit/(5*scale))
				got := numbersOf(t, optim.ClipNorm(g, limit))
				for i, want := range []float64{3 * scale * f, 4 * scale * f} {
					if !(math.Abs(got[i]/want-1) < 0.02) {
						t.Errorf("ClipNorm(%v %v, %v) = %v, want %v", d, g, limit, got[i], want)
					}
				}
			}
		}
	}
}

// Finite gradients are scaled right where their norm overflows; infinite ones make all others 0.
func TestClipNormBeyondTheRange(t *testing.T) {
	for _, c := range []struct {
		big   float64
		types []tensor.DType
	}{
		{3e38, []tensor.DType{tensor.Float32, tensor.Float32}},
		{3e38, []tensor.DType{tensor.BFloat16, tensor.Float32}},
		{1.5e308, []tensor.DType{tensor.Float64, tensor.Float64}},
	} {
		var g []tensor.Tensor
		for _, d := range c.types {
			g = append(g, tensor.FullOf(d, c.big, 8))
		}
		for _, limit := range []float64{1e-3, 1, 1e6, c.big} {
			for _, clipped := range optim.ClipNorm(g, limit) {
				if got, want := numbersOf(t, clipped)[0], limit/4; !(math.Abs(got/want-1) < 0.01) {
					t.Errorf("ClipNorm of 16 times %v to %v in %v: %v, want %v", c.big, limit, c.types, got, want)
				}
			}
		}
	}
	g := numbersOf(t, optim.ClipNorm(tensor.New([]float32{1, float32(math.Inf(1)), 3e38}), 1))
	if g[0] != 0 || !math.IsNaN(g[1]) || g[2] != 0 {
		t.Errorf("ClipNorm of [1 Inf 3e38] is %v, want [0 NaN 0]", g)
	}
}

// Numbers of averages and limits are not rounded to the 16 bits of their tensors.
func TestNumbersOfHalves(t *testing.T) {
	d := tensor.BFloat16
	avg := optim.Average(tensor.FullOf(d, 1, 1), tensor.FullOf(d, 100, 1), 0.999)
	if got := numbersOf(t, avg)[0]; math.Abs(got-1.099) > 0.005 {
		t.Errorf("Average of 1 and 100 with decay 0.999 is %v, want about 1.1", got)
	}
	clipped := optim.ClipValue(tensor.FullOf(tensor.Float16, 1, 1), 1e6)
	if got := numbersOf(t, clipped)[0]; got != 1 {
		t.Errorf("ClipValue of 1 to 1e6 in float16 is %v", got)
	}
	sum := optim.Accumulator[tensor.Tensor]{Sum: tensor.FullOf(d, 257, 1), Count: 257}
	if got := numbersOf(t, sum.Mean())[0]; got != float64(float32(256)/257) && math.Abs(got-256./257) > 0.004 {
		t.Errorf("the mean of 257 is %v", got)
	}
}

func numbersOf(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	v, err := tensor.Data[float64](x.Cast(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A metric that does not improve lowers the rate, whatever its sign.
func TestPlateauOfAnySign(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		for _, start := range []float64{-10, 0, 10, math.Inf(1), math.Inf(-1), math.NaN()} {
			p := &optim.Plateau{Patience: 1, Maximize: maximize}
			worse := 0.0005
			if maximize {
				worse = -worse
			}
			for i := range 20 {
				p.Observe(start + worse*float64(i))
			}
			if p.Schedule(0) >= 1 {
				t.Errorf("Maximize %v: from %v on, ever worse: the factor is %v", maximize, start, p.Schedule(0))
			}
			if math.IsNaN(start) || math.IsInf(start, 0) {
				continue
			}
			p = &optim.Plateau{Patience: 1, Maximize: maximize}
			for i := range 20 {
				p.Observe(start - 1000*worse*float64(i))
			}
			if p.Schedule(0) != 1 {
				t.Errorf("Maximize %v: from %v on, ever better: the factor is %v", maximize, start, p.Schedule(0))
			}
		}
	}
}
