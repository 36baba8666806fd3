package llamacpp_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// The weights of columns are the mean squares of their inputs, of one matrix and of a part of one, and are read again
// from a file.
func TestImportance(t *testing.T) {
	type layer struct {
		SelfAttn struct{ QProj, OProj nn.Linear }
		MLP      struct{ GateUpProj nn.Linear }
	}
	var m struct {
		Model struct{ Layers []layer }
	}
	rng := tensor.NewRNG(1)
	var l layer
	l.SelfAttn.QProj, l.SelfAttn.OProj, l.MLP.GateUpProj = nn.NewLinear(rng, 3, 4), nn.NewLinear(rng, 4, 3), nn.NewLinear(rng, 3, 6)
	m.Model.Layers = []layer{l}
	if err := tensor.Eval(l.SelfAttn.QProj.Weight, l.SelfAttn.OProj.Weight, l.MLP.GateUpProj.Weight); err != nil {
		t.Fatal(err)
	}
	texts := []tensor.Tensor{tensor.New([]float32{1, 2, 3, 4, 5, 6}, 1, 2, 3), tensor.New([]float32{0, 1, -1, 2, 0, 1}, 1, 2, 3)}
	i := llamacpp.NewImportance(&m)
	want := map[string][]float64{"blk.0.attn_q.weight": make([]float64, 3), "blk.0.attn_output.weight": make([]float64, 4), "blk.0.ffn_up.weight": make([]float64, 3)}
	add := func(name string, x tensor.Tensor) {
		values, err := tensor.Data[float32](x.Square().Mean(0, 1).Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			want[name][i] += float64(v) / 2
		}
	}
	for _, x := range texts {
		q := l.SelfAttn.QProj.Apply(x)
		y := l.SelfAttn.OProj.Apply(q)
		w := l.MLP.GateUpProj.Weight
		z := nn.Linear{Weight: w.Slice(0, 0, 3)}.Apply(y).Mul(nn.Linear{Weight: w.Slice(0, 3, 6)}.Apply(y))
		if err := i.Add(z); err != nil {
			t.Fatal(err)
		}
		add("blk.0.attn_q.weight", x)
		add("blk.0.attn_output.weight", q)
		add("blk.0.ffn_up.weight", y)
	}
	path := filepath.Join(t.TempDir(), "imatrix.gguf")
	if err := i.Save(path, "a text", 2); err != nil {
		t.Fatal(err)
	}
	got, err := llamacpp.ReadImportance(path)
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for name, w := range want {
		for k := range w {
			if len(got[name]) != len(w) || math.Abs(float64(got[name][k])-w[k]) > 1e-5*w[k] {
				t.Errorf("%s: %v, want %v", name, got[name], w)
			}
		}
	}
}
