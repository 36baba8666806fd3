package nn_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// No number of a layer or loss may be NaN, infinite or negative, where that has no meaning.
func TestSettings(t *testing.T) {
	rng := tensor.NewRNG(1)
	image, x, y := tensor.Ones(2, 4, 6, 6), tensor.Ones(2, 5, 8), tensor.Ones(3)
	train := func(l nn.Stateful, x tensor.Tensor) { l.Train(x, tensor.NewRNG(1)) }
	attention, lstm := nn.NewAttention(rng, 8, 2), nn.NewLSTM(rng, 8, 8, nil)
	scaled := func(s nn.RotaryScaling) { nn.Rotary{Base: 10000, Scaling: s}.Apply(x, tensor.Arange(5)) }
	labels := tensor.New([]int32{0, 1})
	with := func(o nn.CrossEntropyOptions) { nn.CrossEntropyWith(tensor.Ones(2, 3), labels, &o) }

	floats := map[string]func(v float64){
		"LayerNorm":             func(v float64) { nn.LayerNorm{Eps: v}.Apply(x) },
		"RMSNorm":               func(v float64) { nn.RMSNorm{Eps: v}.Apply(x) },
		"GroupNorm":             func(v float64) { nn.GroupNorm{Groups: 2, Eps: v}.Apply(image) },
		"InstanceNorm":          func(v float64) { nn.InstanceNorm{Eps: v}.Apply(image) },
		"BatchNorm":             func(v float64) { l := nn.NewBatchNorm(4); l.Eps = v; l.Apply(image) },
		"BatchNorm Momentum":    func(v float64) { l := nn.NewBatchNorm(4); l.Momentum = v; train(l, image) },
		"LocalResponseNorm α":   func(v float64) { nn.LocalResponseNorm{Size: 2, Alpha: v}.Apply(image) },
		"LocalResponseNorm β":   func(v float64) { nn.LocalResponseNorm{Size: 2, Beta: v}.Apply(image) },
		"LocalResponseNorm K":   func(v float64) { nn.LocalResponseNorm{Size: 2, K: v}.Apply(image) },
		"Dropout":               func(v float64) { nn.Dropout{P: v}.Apply(x) },
		"ChannelDropout":        func(v float64) { nn.ChannelDropout{P: v}.Apply(image) },
		"Attention Scale":       func(v float64) { l := attention; l.Scale = v; l.Apply(x) },
		"Attention SoftCap":     func(v float64) { l := attention; l.SoftCap = v; l.Apply(x) },
		"Attention Dropout":     func(v float64) { l := attention; l.Dropout = v; l.Apply(x) },
		"LSTM Dropout":          func(v float64) { l := lstm; l.Dropout = v; l.Apply(x, nil) },
		"NewLSTM":               func(v float64) { nn.NewLSTM(rng, 8, 8, &nn.RecurrentOptions{Dropout: v}) },
		"Rotary":                func(v float64) { nn.Rotary{Base: v}.Apply(x, tensor.Arange(5)) },
		"LinearScaling":         func(v float64) { scaled(nn.LinearScaling{Factor: v}) },
		"DynamicScaling":        func(v float64) { scaled(nn.DynamicScaling{Factor: v, Length: 4}) },
		"Llama3Scaling":         func(v float64) { scaled(nn.Llama3Scaling{Factor: v, Length: 4}) },
		"Llama3Scaling Low":     func(v float64) { scaled(nn.Llama3Scaling{Factor: 2, Length: 4, LowFreq: v}) },
		"Llama3Scaling High":    func(v float64) { scaled(nn.Llama3Scaling{Factor: 2, Length: 4, HighFreq: v}) },
		"YaRNScaling":           func(v float64) { scaled(nn.YaRNScaling{Factor: v, Length: 4}) },
		"YaRNScaling Fast":      func(v float64) { scaled(nn.YaRNScaling{Factor: 2, Length: 4, BetaFast: v}) },
		"YaRNScaling Slow":      func(v float64) { scaled(nn.YaRNScaling{Factor: 2, Length: 4, BetaSlow: v}) },
		"YaRNScaling Magnitude": func(v float64) { scaled(nn.YaRNScaling{Factor: 2, Length: 4, Magnitude: v}) },
		"TruncNormal":           func(v float64) { nn.TruncNormal(rng, v, 2, 2) },
		"SmoothL1":              func(v float64) { nn.SmoothL1(y, y, v) },
		"InfoNCE":               func(v float64) { nn.InfoNCE(tensor.Ones(2, 3), tensor.Ones(2, 3), v) },
		"Focal Gamma":           func(v float64) { nn.Focal(y, y, &nn.FocalOptions{Gamma: v}) },
		"CrossEntropyWith":      func(v float64) { with(nn.CrossEntropyOptions{Smoothing: v}) },
		"CrossEntropyWith γ":    func(v float64) { with(nn.CrossEntropyOptions{Gamma: v}) },
		"BCEWithPosWeight":      func(v float64) { nn.BCEWithPosWeight(y, y, v) },
	}
	signed := map[string]func(v float64){ // of which negative numbers have a meaning
		"Focal Alpha":     func(v float64) { nn.Focal(y, y, &nn.FocalOptions{Alpha: v}) },
		"MarginRanking":   func(v float64) { nn.MarginRanking(y, y, y, v) },
		"HingeEmbedding":  func(v float64) { nn.HingeEmbedding(y, y, v) },
		"CosineEmbedding": func(v float64) { nn.CosineEmbedding(y, y, tensor.Ones(), v) },
		"TripletMargin":   func(v float64) { nn.TripletMargin(y, y, y, v) },
		"MultiMargin":     func(v float64) { nn.MultiMargin(tensor.Ones(2, 3), labels, v, 1) },
		"GainLeakyReLU":   func(v float64) { nn.GainLeakyReLU(v) },
	}
	counts := map[string]func(n int){
		"GroupNorm":         func(n int) { nn.GroupNorm{Groups: n}.Apply(image) },
		"LocalResponseNorm": func(n int) { nn.LocalResponseNorm{Size: n}.Apply(image) },
		"Attention Heads":   func(n int) { l := attention; l.Heads = n; l.Apply(x) },
		"MaxPool":           func(n int) { nn.MaxPool{Size: n}.Apply(image) },
		"AvgPool":           func(n int) { nn.AvgPool{Options: tensor.ConvOptions{Window: []int{2, n}}}.Apply(image) },
		"Unfold":            func(n int) { nn.Unfold{Size: n}.Apply(image) },
		"Upsample":          func(n int) { nn.Upsample{Factor: n}.Apply(image) },
		"PixelShuffle":      func(n int) { nn.PixelShuffle{Factor: n}.Apply(image) },
		"AdaptiveAvgPool":   func(n int) { nn.AdaptiveAvgPool{Size: []int{n}}.Apply(image) },
		"AdaptiveMaxPool":   func(n int) { nn.AdaptiveMaxPool{Size: []int{n}}.Apply(image) },
		"NewConv2D":         func(n int) { nn.NewConv2D(rng, 1, 1, n, nil) },
		"NewGRU":            func(n int) { nn.NewGRU(rng, 1, n, nil) },
		"ALiBi":             func(n int) { nn.ALiBi(n, 2, 2, 0) },
		"LoadBalance":       func(n int) { nn.LoadBalance(tensor.Ones(2, 2), n) },
	}
	inf := math.Inf(1)
	try := func(name string, v any, f func()) {
		err := tensor.Try(f)
		op := strings.Fields(name)[0]
		if err == nil || !strings.Contains(err.Error(), "settings_test.go") || !strings.Contains(err.Error(), "nn."+op) {
			t.Errorf("%s of %v: %v, want an error with the line", name, v, err)
		}
	}
	for name, f := range floats {
		for _, v := range []float64{math.NaN(), inf, -inf, -2} {
			try(name, v, func() { f(v) })
		}
	}
	for name, f := range signed {
		for _, v := range []float64{math.NaN(), inf, -inf} {
			try(name, v, func() { f(v) })
		}
	}
	for name, f := range counts {
		for _, n := range []int{0, -2} {
			try(name, n, func() { f(n) })
		}
	}
	try("NewLSTM", nil, func() { nn.NewLSTM(rng, 1, 1, &nn.RecurrentOptions{Layers: math.MaxInt}) })
	if got := new(nn.Report).String(); !strings.Contains(got, "empty report") {
		t.Errorf("an empty report prints as %q", got)
	}
	odd := &nn.Report{Layers: []nn.LayerReport{{Depth: -1}, {Name: "a", Depth: 5}, {Name: "a.b", Depth: 2}}}
	if got := odd.String(); !strings.Contains(got, "b") {
		t.Errorf("a report of odd depths prints as %q", got)
	}
	try("Embedding", nil, func() { nn.Embedding{Weight: tensor.Scalar(1).Cast(tensor.Float32)}.Apply(labels) })
	try("SummaryOf", nil, func() { nn.SummaryOf[nn.Linear, tensor.Tensor](nn.Linear{}, nil) })
	try("Func", nil, func() { nn.Func(nil).Apply(x) })
	try("Sequential", nil, func() { nn.Sequential{nn.Func(nil)}.Apply(x) })
}

// Recurrent layers fit a Sequential.
func TestRecurrentInSequential(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 5, 3).Keep()
	o := &nn.RecurrentOptions{Layers: 2, Bidirectional: true, Dropout: 0.5}
	rnn, lstm, gru := nn.NewRNN(rng, 3, 4, o), nn.NewLSTM(rng, 3, 4, o), nn.NewGRU(rng, 3, 4, o)
	for _, p := range []float64{rnn.Dropout, lstm.Dropout, gru.Dropout} {
		if p != 0.5 {
			t.Errorf("Dropout is %v, want 0.5", p)
		}
	}
	y, last := lstm.Apply(x, nil)
	near(t, "LSTMLayer", nn.Sequential{nn.LSTMLayer{LSTM: lstm}}.Apply(x), y, 0)
	ends := tensor.Cat(-1, last[0].At(2), last[0].At(3))
	near(t, "LSTMLayer, Last", nn.LSTMLayer{LSTM: lstm, Last: true}.Apply(x), ends, 0)
	near(t, "the forward half of Last", ends.Slice(-1, 0, 4), y.Slice(1, 4, 5).Squeeze(1).Slice(-1, 0, 4), 0)
	y, _ = gru.Apply(x, nil)
	near(t, "GRULayer", nn.GRULayer{GRU: gru}.Apply(x), y, 0)
	y, _ = rnn.Apply(x, nil)
	near(t, "RNNLayer", nn.RNNLayer{RNN: rnn}.Apply(x), y, 0)
	dropped, next := nn.Train(nn.Sequential{nn.LSTMLayer{LSTM: lstm}}, x, rng)
	if same, err := tensor.AllClose(dropped, nn.LSTMLayer{LSTM: lstm}.Apply(x), 0, 0); same || err != nil {
		t.Errorf("no dropout in training (%v)", err)
	}
	if _, ok := next[0].(nn.LSTMLayer); !ok {
		t.Errorf("Train returned a %v", reflect.TypeOf(next[0]))
	}
	if s := nn.Summary(nn.Sequential{nn.LSTMLayer{LSTM: lstm}}); !strings.HasPrefix(s, "0.weight_ih_l0 ") {
		t.Errorf("the names are\n%s\nwant 0.weight_ih_l0 first", s)
	}
	image := tensor.Arange(12).Cast(tensor.Float32).Reshape(1, 1, 2, 6)
	check(t, "MaxPool of [2 3]", nn.MaxPool{Options: tensor.ConvOptions{Window: []int{2, 3}}}.Apply(image), []int{1, 1, 1, 2}, 8, 11)
	check(t, "AvgPool of [1 3]", nn.AvgPool{Options: tensor.ConvOptions{Window: []int{1, 3}}}.Apply(image), []int{1, 1, 2, 2}, 1, 4, 7, 10)
}
