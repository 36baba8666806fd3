package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/tensor"
)

// All examples but the last run, and examples of floats have gradients.
func TestExamples(t *testing.T) {
	for i, x := range examples {
		for _, gradient := range []bool{false, true} {
			a, err := answerOn(tensor.CPU(), request{x.Source, page.CPU, gradient})
			if mistake := i == len(examples)-1; mistake != (err != nil) {
				t.Fatalf("%s: error %v", x.Name, err)
			} else if mistake {
				continue
			}
			if !strings.Contains(a.Plan, fmt.Sprintf("%d kernel", strings.Count(a.Plan, "\n")-1)) {
				t.Errorf("%s: plan %q", x.Name, a.Plan)
			}
			for _, k := range a.Kernels {
				if k.Text == "" || len(k.Shaders) == 0 || !strings.Contains(k.Shaders[0], "@compute") {
					t.Errorf("%s: kernel %+v", x.Name, k)
				}
			}
			for _, r := range a.Results {
				if strings.HasPrefix(r.Name, "gradient") != gradient {
					t.Errorf("%s: result %s", x.Name, r.Name)
				}
			}
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		source   string
		gradient bool
		want     string // name, type and value of each result
	}{
		{"x := tensor.New([]float32{1, 2, 3})\nx.Mul(x).Mul(0.5)", false, "result float32 [3] [0.5 2.0 4.5]"},
		{"x := tensor.New([]float32{1, 2, 3})\nx.Mul(x).Mul(0.5)", true, "gradient of x float32 [3] [1 2 3]"},
		{"x := tensor.Ones(2)\ny := tensor.Full(-1.5, 2)\nz := x.Add(1)\nz.Mul(y)", true, "gradient of x float32 [2] [-1.5 -1.5]; gradient of y float32 [2] [2 2]"},
		{"x := tensor.Ones(2)\ny := x.Sum()\nx = tensor.Full(3, 2)\nx.Mul(y)", false, "result float32 [2] [6 6]"},
		{"x := tensor.Ones(2)\nx = x.Add(1)\nx.Square()", true, "gradient of x float32 [2] [4 4]"},
		{"v, i := tensor.New([]float32{1, 3, 2}).TopK(0, 1)\nv.Add(i.Cast(tensor.Float32))", false, "result float32 [1] [4]"},
		{"x := tensor.New([]float32{1, 3, 2})\n_, i := x.TopK(0, 1)\nx.Mul(i.Cast(tensor.Float32))", true, "gradient of x float32 [3] [1 1 1]"},
		{"v, _ := tensor.New([]float32{1, 3, 2}).TopK(0, 1)\nv", true, "gradient of v float32 [1] [1]"},
		{"_, _ := tensor.Ones(2).TopK(0, 1)\nx, _ := tensor.Ones(2).TopK(0, 1)\nx", true, "gradient of x float32 [1] [1]"},
		{"tensor.Ones(2, 3).Sum()", false, "result float32 [] 6"},
		{"tensor.Ones(2, 3).Sum([]int{0, 1}...)", false, "result float32 [1 1] [[6]]"},
		{"tensor.Ones(2).Mul(2*3 - 1).Div(math.Sqrt(4)) // a comment", false, "result float32 [2] [2.5 2.5]"},
		{"tensor.Ones(2).Mul(7 / 2).Add(7 / 2.0)", false, "result float32 [2] [6.5 6.5]"},
		{"x := tensor.Arange(3)\nx.Index(tensor.Span(1, tensor.End))", false, "result int32 [2] [1 2]"},
		{"x := tensor.Ones(1, 1, 3, 3)\nx.Conv(x, nil)", false, "result float32 [1 1 1 1] [[[[9]]]]"},
	} {
		a, err := answerOn(tensor.CPU(), request{c.source, page.CPU, c.gradient})
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		var got []string
		for _, r := range a.Results {
			got = append(got, r.Name+" "+r.Type+" "+r.Value)
		}
		if s := strings.Join(got, "; "); strings.ReplaceAll(s, " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: got %s, want %s", c.source, s, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"", "want an expression as the last line"},
		{"x := tensor.Ones(2", "line 1: "},
		{"tensor.Ones(2).Add(\n", "line 2: the line is incomplete"},
		{"1+", "line 1: the line is incomplete"},
		{"[]int{1,", "line 1: the line is incomplete"},
		{"tensor.Ones(2) }", "line 1: there is a '}' too many"},
		{"}\ntensor.Ones(2)", "line 2: there is a '}' too many, here or above"},
		{"tensor.Ones(nil)", "line 1: nil, want a value of type int"},
		{"_ := tensor.Ones(2)\n_.Sum()", "line 2: undefined: _"},
		{"x := 1\n}\nfunc g() {", "without declarations"},
		{"tensor.Ones(1)\ntensor.Ones(1)", "line 2: the expression must be the last line"},
		{"for {}\ntensor.Ones(1)", "line 1: want variables"},
		{"x.y = 1\ntensor.Ones(1)", "line 1: want a variable"},
		{"x += 1\ntensor.Ones(1)", "line 1: want a line such as"},
		{"tensor.Ones(2) + 1", "line 1: want a number, a variable or a call: operators of tensors are methods"},
		{"x.Sum()", "line 1: undefined: x"},
		{"tensor.Nothing(2)", "line 1: tensor.Nothing is not known here"},
		{"tensor.Ones(2).Nothing()", "has no method Nothing"},
		{"tensor.Ones(2).T", "line 1: a value of type"},
		{"tensor.Ones(2).MatMul()", "0 arguments, want 1"},
		{"tensor.Ones(2).Sum(0.5)", "a value of type float64, want int"},
		{"tensor.Ones(2).Sum(0, []int{1}...)", "2 arguments"},
		{"tensor.Ones(2).TopK(0, 1)", "2 values in the place of one"},
		{"x := tensor.Ones(2).TopK(0, 1)\nx", "1 variables for 2 values"},
		{"[]string{}", "literals are"},
		{"tensor.Ones(1).Conv(tensor.Ones(1), &tensor.ConvOptions{Nothing: 1})", "want a field"},
		{"math.Pi()", "is called"},
		{"1", "a value of type int, want tensor.Tensor"},
		{"x := tensor.Ones(3, 4)\nx.MatMul(x)", "line 2: MatMul of [3 4] and [3 4]: the inner lengths 4 and 3 differ"},
		{"x := tensor.Ones(3)\nx.Take(0, tensor.Arange(5))", "Take"},
		{"tensor.Ones(1<<20, 1<<20)", "want a number"},
	} {
		if _, err := answerOn(tensor.CPU(), request{c.source, page.CPU, false}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.source, err, c.want)
		}
	}
	if _, err := answerOn(tensor.CPU(), request{"tensor.Arange(3)", page.CPU, true}); err == nil || !strings.Contains(err.Error(), "no variable to differentiate") {
		t.Errorf("without inputs: error %v", err)
	}
}
