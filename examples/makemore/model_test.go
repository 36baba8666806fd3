package main

import (
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// networks are all models that are trained.
var networks = []network{neuron, mlp, batchNorm, waveNet, rnn, gru, lstm, transformer}

func TestSplit(t *testing.T) {
	list := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "longest", "k"}
	d := split(list, 1)
	if len(d.train) != 9 || len(d.dev) != 1 || len(d.test) != 1 || d.longest != 7 {
		t.Errorf("split gives %+v", d)
	}
	all := slices.Sorted(slices.Values(slices.Concat(d.train, d.dev, d.test)))
	if want := slices.Sorted(slices.Values(list)); !slices.Equal(all, want) {
		t.Errorf("split gives %v, want parts of %v", all, want)
	}
}

func TestExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		e    examples
		x    [][]int32
		y    []int32
	}{
		{"contexts", contexts([]string{"eve", "a"}, 3), [][]int32{{0, 0, 0}, {0, 0, 5}, {0, 5, 22}, {5, 22, 5}, {0, 0, 0}, {0, 0, 1}}, []int32{5, 22, 5, 0, 1, 0}},
		{"sequences", sequences([]string{"eve", "a"}, 5), [][]int32{{0, 5, 22, 5, 0}, {0, 1, 0, 0, 0}}, []int32{5, 22, 5, 0, -1, 1, 0, -1, -1, -1}},
	} {
		x, err := tensor.Data[int32](c.e.X)
		if want := slices.Concat(c.x...); err != nil || !slices.Equal(x, want) || c.e.X.Dim(0) != len(c.x) {
			t.Errorf("%s of eve and a have inputs %v %v, %v, want %v", c.name, c.e.X.Shape(), x, err, c.x)
		}
		if y, err := tensor.Data[int32](c.e.Y); err != nil || !slices.Equal(y, c.y) {
			t.Errorf("%s of eve and a have labels %v, %v, want %v", c.name, y, err, c.y)
		}
	}
}

// TestModels holds that the logits have the right shape, that every parameter has a gradient,
// and that no model looks ahead.
func TestModels(t *testing.T) {
	list := []string{"eve", "adam", "noah"}
	d := dataset{train: list, longest: 4}
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			rng := tensor.NewRNG(1)
			e := n.examples(list, d)
			m := n.make(rng, n.window(d))
			logits := m.Apply(e.X)
			if want := append(e.Y.Shape(), symbols); !slices.Equal(logits.Shape(), want) {
				t.Fatalf("the logits have shape %v, want %v", logits.Shape(), want)
			}
			g := grad.Of(func(m nn.Layer) tensor.Tensor {
				logits, _ := nn.Train(m, e.X, rng)
				sum, _ := loss(logits, e.Y)
				return sum
			})(m)
			got := map[string]tensor.Tensor{}
			for name, t := range tree.All(g) {
				got[name] = t
			}
			for name, p := range tree.All(m) {
				switch d, ok := got[name]; {
				case !ok && !strings.Contains(name, "running_"):
					t.Errorf("%s %v has no gradient", name, p.Shape())
				case ok && d.Abs().Max().Item() == 0:
					t.Errorf("%s %v has a gradient of zeros", name, p.Shape())
				}
			}
			if n.time > 0 {
				return
			}
			last := n.window(d) - 1
			changed := tensor.Cat(1, e.X.Slice(1, 0, last), e.X.Slice(1, last, last+1).Add(1))
			before, after := logits.Slice(1, 0, last), m.Apply(changed).Slice(1, 0, last)
			if same, err := tensor.AllClose(before, after, 0, 1e-6); err != nil || !same {
				t.Errorf("the last symbol changes logits before it, %v", err)
			}
		})
	}
}

// TestSample draws from models that know the next symbol for certain.
func TestSample(t *testing.T) {
	certain := func(next func(from int) int) nn.Layer {
		w := make([]float32, symbols*symbols)
		for i := range symbols {
			w[i*symbols+next(i)] = 100
		}
		table := nn.Embedding{Weight: tensor.New(w, symbols, symbols)}
		return nn.Func(func(x tensor.Tensor) tensor.Tensor { return table.Apply(x) })
	}
	last := func(l nn.Layer) nn.Layer {
		return nn.Func(func(x tensor.Tensor) tensor.Tensor { return l.Apply(x).Index(tensor.All, -1) })
	}
	alphabet := certain(func(i int) int { return (i + 1) % symbols })
	for _, c := range []struct {
		name      string
		m         nn.Layer
		positions bool
		time      int
		want      string
	}{
		{"context", last(alphabet), false, 3, names.Alphabet[1:]},
		{"positions", alphabet, true, symbols, names.Alphabet[1:]},
		{"positions, cut", alphabet, true, 4, "abcd"},
		{"context, cut", last(certain(func(int) int { return 2 })), false, 1, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
		{"empty", certain(func(int) int { return 0 }), true, 4, ""},
	} {
		got, err := sample(c.m, tensor.NewRNG(1), c.time, c.positions, 2)
		if want := []string{c.want, c.want}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: sample gives %q, %v, want %q", c.name, got, err, want)
		}
	}
}

// TestBackward compares the passes by hand with package grad, at a batch of an odd size.
func TestBackward(t *testing.T) {
	e := contexts([]string{"eve", "ada"}, 3)
	p := newNinja(tensor.NewRNG(2))
	_, v, want := gradients(p, e)
	d, net := p.backward(e, v)
	if len(d) != len(v) {
		t.Errorf("backward gives %d gradients of %d steps", len(d), len(v))
	}
	shortD, shortNet := p.short(e, v)
	for _, got := range []derived{{net, d}, {shortNet, shortD}} {
		for name, g := range tree.All(got) {
			want := find(want, name)
			if !reflect.DeepEqual(g.Shape(), want.Shape()) {
				t.Errorf("the gradient of %s has shape %v, want %v", name, g.Shape(), want.Shape())
			} else if s := verdict(g, want); s != "equal" {
				t.Errorf("the gradient of %s %s", name, s)
			}
		}
	}
}

// TestMakemore trains with makemore's list of names, which is not part of this module.
func TestMakemore(t *testing.T) {
	path := os.Getenv("TENSORKEN_NAMES")
	if path == "" {
		t.Skip("TENSORKEN_NAMES does not name makemore's names.txt")
	}
	list, err := names.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{w: t.Output(), data: split(list, 1), seed: 1, steps: 300}
	for _, c := range []struct {
		n    network
		most float64
	}{{waveNet, 2.5}, {rnn, 2.4}, {gru, 2.4}, {lstm, 2.4}, {transformer, 2.35}} {
		if err := trained(c.n)(s); err != nil {
			t.Fatal(err)
		}
		if r := s.results[len(s.results)-1]; !(r.dev < c.most) || math.Abs(r.dev-r.train) > 0.1 {
			t.Errorf("%s has the losses %.4f and %.4f, want less than %v", c.n.name, r.train, r.dev, c.most)
		}
	}
}
