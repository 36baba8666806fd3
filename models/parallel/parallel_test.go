package parallel_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/models/parallel"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func load(t *testing.T, path string) *models.Llama {
	t.Helper()
	m, err := models.LoadLlama(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const plain = "../../gguf/testdata/llama_gqa.gguf"

// quantised returns a GGUF file whose matrices are in blocks of Q8_0, but for those whose name has a part.
func quantised(t *testing.T, but string) string {
	t.Helper()
	f, err := gguf.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blocks, err := gguf.ParseType("Q8_0")
	if err != nil {
		t.Fatal(err)
	}
	var sources []gguf.Source
	for _, info := range f.Tensors() {
		typ := info.Type
		if len(info.Shape) > 1 && !strings.Contains(info.Name, but) {
			typ = blocks
		}
		sources = append(sources, gguf.Source{Name: info.Name, Type: typ, Shape: info.Shape, Tensor: func() (tensor.Tensor, error) { return f.Tensor(info.Name) }})
	}
	path := filepath.Join(t.TempDir(), "blocks.gguf")
	if err := gguf.Write(path, f.Meta, sources); err != nil {
		t.Fatal(err)
	}
	return path
}

// inBlocks counts the tensors in blocks.
func inBlocks(m *models.Llama) (n int) {
	for _, t := range tree.All(m) {
		if v := tensor.Internal.Node(graph.Token{}, t).Value(); v != nil && storage.Of(v).InBlocks() {
			n++
		}
	}
	return n
}

// Ranks that have parts of a model compute the logits of the whole, and generate its texts.
func TestDivide(t *testing.T) {
	paths := []string{plain, quantised(t, "attn_output")}
	for _, name := range []string{"llama_gqa", "gemma2", "mixtral", "qwen2", "qwen2_moe", "phi3"} {
		paths = append(paths, filepath.Join("../testdata", name))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			m := load(t, path)
			ids := tensor.New([]int32{1, 5, 7, 3, 2, 9, 11, 4}).Reshape(2, 4)
			want := m.Apply(ids).Keep()
			generate := func(m *models.Llama) ([][]int32, error) {
				return (&models.Generator{Model: m, MaxTokens: 6}).Generate([][]int32{{1, 5, 7}, {2, 9}})
			}
			texts, err := generate(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := dist.Local(2, func(g *dist.Group) (err error) {
				defer tensor.Catch(&err)
				part, err := parallel.Divide(g, m)
				if err != nil {
					return err
				}
				if whole, got := m.Model.Layers[0].SelfAttn.OProj.Weight, part.Model.Layers[0].SelfAttn.OProj.Weight; got.Len() != whole.Len()/2 {
					return fmt.Errorf("a part has %v of %v", got.Shape(), whole.Shape())
				}
				if inBlocks(part) != inBlocks(m) {
					t.Error("a part of weights in blocks is not in blocks")
				}
				if d := part.Apply(ids).Sub(want).Abs().Max().Item(); d > 1e-4*want.Abs().Max().Item() {
					t.Errorf("rank %d: logits differ by %v", g.Rank(), d)
				}
				got, err := generate(part)
				if err == nil && !slices.EqualFunc(got, texts, slices.Equal) {
					t.Errorf("rank %d generates %v, want %v", g.Rank(), got, texts)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Models that ranks do not divide are errors that name the layer.
func TestDivideErrors(t *testing.T) {
	for _, c := range []struct {
		path  string
		ranks int
		want  string
	}{
		{plain, 3, "parallel: layer 0 has 4 heads and 2 of keys, which 3 ranks do not divide"},
		{quantised(t, "none"), 2, "a part of the last axis of [32 32] in Q8_0 is not in whole blocks of 32 elements"},
	} {
		m := load(t, c.path)
		if err := dist.Local(c.ranks, func(g *dist.Group) error {
			_, err := parallel.Divide(g, m)
			return err
		}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Divide of %s over %d ranks returned %v, want %q", c.path, c.ranks, err, c.want)
		}
	}
}

// Gradients of a part would be of the sum of the ranks' losses: they are an error.
func TestDivideGradient(t *testing.T) {
	m := load(t, plain)
	if err := dist.Local(2, func(g *dist.Group) (err error) {
		defer tensor.Catch(&err)
		part, err := parallel.Divide(g, m)
		if err != nil {
			return err
		}
		grad.Of(func(p *models.Llama) tensor.Tensor { return p.Apply(tensor.New([]int32{1, 5}).Reshape(1, 2)).Sum() })(part)
		return nil
	}); err == nil || !strings.Contains(err.Error(), "a part of a model has no derivatives: train whole models") {
		t.Errorf("the gradient of a part returned %v", err)
	}
}
