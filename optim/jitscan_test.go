package optim_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A tagger labels each element of a sequence.
type tagger struct {
	Embed nn.Embedding
	Up    nn.Linear
	LSTM  nn.LSTM
	GRU   nn.GRU
	Out   nn.Linear
}

func newTagger() tagger {
	rng := tensor.NewRNG(3)
	m := tagger{
		nn.NewEmbedding(rng, 10, 4), nn.NewLinear(rng, 4, 64), nn.NewLSTM(rng, 64, 3, &nn.RecurrentOptions{Layers: 2, Bidirectional: true}),
		nn.NewGRU(rng, 6, 4, nil), nn.NewLinear(rng, 4, 5),
	}
	m.LSTM.Dropout = 0.25
	return m
}

type taggerBatch struct{ X, Y, Lengths tensor.Tensor }

func taggerLoss(m tagger, b taggerBatch, rng *tensor.RNG) (tensor.Tensor, tagger) {
	h, _ := m.LSTM.Run(m.Up.Apply(m.Embed.Apply(b.X)).GELU(), nil, b.Lengths, rng)
	h, _ = m.GRU.Apply(h, nil)
	return nn.CrossEntropy(m.Out.Apply(h), b.Y).Mean(), m
}

// TestJitOfRecurrentLayers compares recorded steps of recurrent layers with steps that run the
// loss.
func TestJitOfRecurrentLayers(t *testing.T) {
	for _, precision := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		if testing.Short() && precision != tensor.Float32 {
			continue
		}
		t.Run(precision.String(), func(t *testing.T) { testJitOfRecurrentLayers(t, precision) })
	}
}

func testJitOfRecurrentLayers(t *testing.T, precision tensor.DType) {
	rng := tensor.NewRNG(5)
	batch := func(step int) taggerBatch {
		n := []int{6, 6, 4}[step%3]
		return taggerBatch{rng.Ints(10, 3, n).Keep(), rng.Ints(5, 3, n).Keep(), tensor.New([]int32{int32(n), 2, 1})}
	}
	runs := 0
	loss := func(m tagger, b taggerBatch, rng *tensor.RNG) (tensor.Tensor, tagger) {
		runs++
		return taggerLoss(m, b, rng)
	}
	o, p := optim.New(optim.AdamW{}, 0.02), optim.New(optim.AdamW{}, 0.02)
	o.ClipNorm, p.ClipNorm = 1, 1
	o.Precision, p.Precision = precision, precision
	m, q := newTagger(), newTagger()
	r, s := tensor.NewRNG(9), tensor.NewRNG(9)
	step := optim.Jit(o, loss)
	const n = 12
	for i := range n {
		b := batch(i)
		got, err := step(&m, b, r)
		if err != nil {
			t.Fatal(err)
		}
		want, next, g := optim.ValueAndGradAux(p, func(m tagger) (tensor.Tensor, tagger) { return taggerLoss(m, b, s) })(q)
		if err := p.Step(&next, g); err != nil {
			t.Fatal(err)
		}
		q = next
		if x, y := all(t, got, m, o.State), all(t, want, q, p.State); !reflect.DeepEqual(x, y) {
			t.Fatalf("step %d: recorded\n%v\nwant\n%v", i, x, y)
		}
		if r.Count != s.Count {
			t.Errorf("step %d: the RNG drew %d keys, want %d", i, r.Count, s.Count)
		}
	}
	if want := 2 * (1 + 2 + 1); runs != want {
		t.Errorf("the loss ran %d times, want %d", runs, want)
	}
}

// A recorded step of recurrent layers that meets a bad index leaves the model and the State as
// they were, also on a device that runs ahead.
func TestFailedStepOfRecurrentLayers(t *testing.T) {
	for name, d := range devices(t) {
		rng := tensor.NewRNG(5)
		batch := func() taggerBatch {
			return tree.To(taggerBatch{X: rng.Ints(10, 3, 6), Y: rng.Ints(5, 3, 6)}, d)
		}
		o := optim.New(optim.AdamW{}, 0.02)
		m, step := tree.To(newTagger(), d), optim.Jit(o, taggerLoss)
		for range 4 {
			if _, err := step(&m, batch(), rng); err != nil {
				t.Fatal(err)
			}
		}
		before := all(t, m, o.State.Slots)
		bad := batch()
		bad.X = tensor.New([]int32{1, 2, 3, 4, 5, 10}).Reshape(1, 6).Expand(3, 6).To(d)
		loss, err := step(&m, bad, rng)
		if err == nil {
			_, err = tensor.Data[float32](loss)
		}
		if err == nil || !strings.Contains(err.Error(), "nn.Embedding: index 10 at [0 5] is out of range") {
			t.Errorf("%s: a bad index: %v", name, err)
		}
		if after := all(t, m, o.State.Slots); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: a failed step changed the model or the State", name)
		}
		if _, err := step(&m, batch(), rng); err != nil {
			t.Errorf("%s: after a bad index: %v", name, err)
		}
	}
}

// BenchmarkRecurrentStep is a step of a small network with a recurrence, run and replayed.
func BenchmarkRecurrentStep(b *testing.B) {
	rng := tensor.NewRNG(5)
	x := taggerBatch{rng.Ints(10, 3, 6).Keep(), rng.Ints(5, 3, 6).Keep(), tensor.Tensor{}}
	if err := tensor.Eval(x); err != nil {
		b.Fatal(err)
	}
	o := optim.New(optim.AdamW{}, 0.02)
	replayed := optim.Jit(o, taggerLoss)
	run := func(m *tagger, x taggerBatch, rng *tensor.RNG) (tensor.Tensor, error) {
		loss, g := grad.ValueAndGrad(func(m tagger) tensor.Tensor { l, _ := taggerLoss(m, x, rng); return l })(*m)
		return loss, o.Step(m, g)
	}
	for name, step := range map[string]func(*tagger, taggerBatch, *tensor.RNG) (tensor.Tensor, error){"run": run, "replayed": replayed} {
		b.Run(name, func(b *testing.B) {
			m := newTagger()
			o.State = optim.State{}
			for b.Loop() {
				if _, err := step(&m, x, rng); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Operands of a recurrence are computed once, for the recurrence and for its derivative.
func TestForwardPassBeforeRecurrence(t *testing.T) {
	rng := tensor.NewRNG(5)
	b := taggerBatch{X: rng.Ints(10, 3, 6).Keep(), Y: rng.Ints(5, 3, 6).Keep()}
	o := optim.New(optim.AdamW{}, 0.02)
	m, step := newTagger(), optim.Jit(o, taggerLoss)
	if err := tensor.Eval(m, b); err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // later ones are replayed
		products := 0
		p := profile.Start() // tensor.Profile would measure the device
		_, err := step(&m, b, rng)
		kernels := p.Stop()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			if name := k.Step.Name(); strings.HasPrefix(name, "[3×6×64 | 4]") || strings.HasPrefix(name, "[18×64 | 4]") || strings.HasPrefix(name, "[6×3×64 | 4]") {
				products++
			}
		}
		if products != 1 {
			t.Errorf("step %d computes %d products of tagger.Up in %d kernels, want 1", i, products, len(kernels))
		}
	}
}
