package nn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestCrossEntropyWith(t *testing.T) {
	rng := tensor.NewRNG(1)
	logits := rng.Normal(2, 3, 4).Cast(tensor.Float64)
	labels := tensor.From([][]int32{{3, -100, 1}, {0, 2, 7}})
	weights := []float64{0.5, 2, 1, 0}
	for i, o := range []nn.CrossEntropyOptions{
		{Ignore: []int{-100, 7}},
		{Ignore: []int{-100, 7}, Smoothing: 0.1},
		{Ignore: []int{-100, 7}, Weight: tensor.New(weights), Smoothing: 0.3},
	} {
		loss, weight := nn.CrossEntropyWith(logits, labels, &o)
		logp, err := tensor.Data[float64](logits.LogSoftmax(-1))
		if err != nil {
			t.Fatal(err)
		}
		var wantLoss, wantWeight []float32
		for row, label := range []int{3, -100, 1, 0, 2, 7} {
			if label < 0 || label > 3 {
				wantLoss, wantWeight = append(wantLoss, 0), append(wantWeight, 0)
				continue
			}
			w := func(c int) float64 {
				if o.Weight.IsValid() {
					return weights[c]
				}
				return 1
			}
			sum := 0.0
			for c := range 4 {
				sum -= w(c) * logp[4*row+c]
			}
			l := -(1-o.Smoothing)*w(label)*logp[4*row+label] + o.Smoothing/4*sum
			wantLoss, wantWeight = append(wantLoss, float32(l)), append(wantWeight, float32(w(label)))
		}
		check(t, fmt.Sprintf("loss %d", i), loss.Cast(tensor.Float32), []int{2, 3}, wantLoss...)
		check(t, fmt.Sprintf("weight %d", i), weight.Cast(tensor.Float32), []int{2, 3}, wantWeight...)
		gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { l, _ := nn.CrossEntropyWith(x, labels, &o); return l }, logits, 2)
	}
	valid := labels.Clamp(0, 3)
	plain, one := nn.CrossEntropyWith(logits, valid, nil)
	if ok, err := tensor.AllClose(plain, nn.CrossEntropy(logits, valid), 1e-15, 0); !ok || err != nil {
		t.Errorf("without options it is not CrossEntropy (%v)", err)
	}
	check(t, "weight without options", one.Cast(tensor.Float32), []int{2, 3}, 1, 1, 1, 1, 1, 1)
	if err := tensor.Eval(func() tensor.Tensor { l, _ := nn.CrossEntropyWith(logits, labels, nil); return l }()); err == nil {
		t.Error("a label of -100 that is not ignored: no error")
	}
}

func TestBCE(t *testing.T) {
	p, y := tensor.New([]float32{0.25, 1, 0, 1, 0, 1e-30}), tensor.New([]float32{1, 1, 0, 0, 1, 0})
	check(t, "BCE", nn.BCE(p, y), []int{6}, 1.3862944, 0, 0, 100, 100, 0)
	g := grad.Of(func(p tensor.Tensor) tensor.Tensor { return nn.BCE(p, y).Sum() })(p)
	check(t, "gradient of BCE", g, []int{6}, -4, 0, 0, 1e12, -1e12, 1e-18) // as in PyTorch
	x := tensor.New([]float64{-2, 0.3, 4})
	target := tensor.New([]float64{0, 0.4, 1})
	if ok, err := tensor.AllClose(nn.BCE(x.Sigmoid(), target), nn.BCEWithLogits(x, target), 1e-12, 0); !ok || err != nil {
		t.Errorf("BCE of probabilities is not BCEWithLogits of logits (%v)", err)
	}
	check(t, "PoissonNLL", nn.PoissonNLL(tensor.New([]float32{0, 1}), tensor.New([]float32{3, 2})), []int{2}, 1, float32(math.E-2))
	a := tensor.From([][]float32{{0, 0}, {1, 1}})
	check(t, "TripletMargin", nn.TripletMargin(a, a.Add(1), a.Sub(4), 1), []int{2}, 0, 0)
	check(t, "TripletMargin, violated", nn.TripletMargin(a, a.Add(3), a.Sub(1), 0.5), []int{2}, 2*math.Sqrt2+0.5, 2*math.Sqrt2+0.5)
}

// CTC is the sum over all paths that collapse to the target.
func TestCTC(t *testing.T) {
	for _, time := range []int{4, 1} {
		t.Run(fmt.Sprintf("%d steps", time), func(t *testing.T) { testCTC(t, time) })
	}
}

func testCTC(t *testing.T, time int) {
	const classes = 3
	rng := tensor.NewRNG(2)
	logits := rng.Normal(time, 7, classes).Cast(tensor.Float64)
	targets := tensor.From([][]int32{{1, 2}, {2, 2}, {1, -100}, {0, 99}, {1, 1}, {7, 7}, {1, 2}}) // some padded
	inputs, lengths := []int{4, 4, 2, 3, 2, 0, 0}, []int{2, 2, 1, 0, 2, 0, 1}
	want := []([]int){{1, 2}, {2, 2}, {1}, {}, {1, 1}, {}, {1}}
	possible := make([]float64, len(want))
	for b, n := range inputs {
		inputs[b] = min(n, time)
	}
	logp, err := tensor.Data[float64](logits.LogSoftmax(-1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tensor.Data[float64](nn.CTC(logits.LogSoftmax(-1), targets, tensor.New(inputs), tensor.New(lengths), 0))
	if err != nil {
		t.Fatal(err)
	}
	for b := range want {
		total := 0.0
		paths := 1
		for range inputs[b] {
			paths *= classes
		}
		for path := range paths {
			var labels []int
			p, last := 0.0, 0
			for i, rest := 0, path; i < inputs[b]; i, rest = i+1, rest/classes {
				c := rest % classes
				if c != last && c != 0 {
					labels = append(labels, c)
				}
				last = c
				p += logp[(i*len(want)+b)*classes+c]
			}
			if fmt.Sprint(labels) == fmt.Sprint(want[b]) {
				total += math.Exp(p)
			}
		}
		if w := -math.Log(total); got[b] != w && !(math.Abs(got[b]-w) < 1e-12) {
			t.Errorf("sequence %d: %v, want %v", b, got[b], w)
		}
		if total > 0 {
			possible[b] = 1
		}
	}
	gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor {
		l := nn.CTC(x.LogSoftmax(-1), targets, tensor.New(inputs), tensor.New(lengths), 0)
		return tensor.Where(tensor.New(possible).Gt(0), l, 0)
	}, logits, 1)
}

// The plan of the loss with its gradient does not grow with the number of steps.
func TestCTCPlan(t *testing.T) {
	lines := func(steps int) int {
		targets, lengths := tensor.From([][]int{{1, 2}}), tensor.From([]int{2})
		return strings.Count(tensor.Explain(grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return nn.CTC(x.LogSoftmax(-1), targets, tensor.From([]int{steps}), lengths, 0).Sum()
		})(tensor.NewRNG(1).Normal(steps, 1, 3))), "\n")
	}
	if a, b := lines(10), lines(1000); a != b {
		t.Errorf("a plan of %d lines for 10 steps, of %d for 1000", a, b)
	}
}

// Lengths and labels that are out of range are errors of the loss that they are of.
func TestCTCErrors(t *testing.T) {
	logp := tensor.NewRNG(2).Normal(4, 2, 3).LogSoftmax(-1)
	for _, c := range []struct {
		targets         [][]int64
		inputs, lengths []int64
		want            string
	}{
		{[][]int64{{1, 2}, {1, 2}}, []int64{4, 5}, []int64{2, 2}, "nn.CTC: input length 5 at [1] is out of range for lengths below 5"},
		{[][]int64{{1, 2}, {1, 2}}, []int64{4, -1}, []int64{2, 2}, "nn.CTC: input length -1 at [1] is out of range for lengths below 5"},
		{[][]int64{{1, 2}, {1, 2}}, []int64{4, 4}, []int64{3, 2}, "nn.CTC: target length 3 at [0] is out of range for lengths below 3"},
		{[][]int64{{1, 2}, {1, 2}}, []int64{4, 4}, []int64{-2, 2}, "nn.CTC: target length -2 at [0] is out of range for lengths below 3"},
		{[][]int64{{1, 3}, {1, 2}}, []int64{4, 4}, []int64{2, 2}, "nn.CTC: label 3 at [0 1] is out of range for 3 classes"},
		{[][]int64{{1, 2}, {-1, 2}}, []int64{4, 4}, []int64{2, 2}, "nn.CTC: label -1 at [1 0] is out of range for 3 classes"},
	} {
		err := tensor.Eval(nn.CTC(logp, tensor.From(c.targets), tensor.New(c.inputs), tensor.New(c.lengths), 0))
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("targets %v, lengths %v and %v: %v, want %s", c.targets, c.inputs, c.lengths, err, c.want)
		}
	}
}
