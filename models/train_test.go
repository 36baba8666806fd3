package models_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// trains fails unless steps of a model lower a loss, and reach each of its tensors.
func trains[M any](t *testing.T, name string, m M, loss func(M) tensor.Tensor) {
	t.Helper()
	before := loss(m).Item()
	opt := optim.New(optim.AdamW{}, 1e-3)
	for i := range 3 {
		_, g := grad.ValueAndGrad(loss)(m)
		if i == 0 {
			reached := map[string]bool{}
			for n := range tree.All(g) {
				reached[n] = true
			}
			for n := range tree.All(m) {
				if !reached[n] {
					t.Errorf("%s: %s has no gradient", name, n)
				}
			}
		}
		if err := opt.Step(&m, g); err != nil {
			t.Fatal(err)
		}
	}
	if after := loss(m).Item(); !(after < before) {
		t.Errorf("%s: the loss is %v after 3 steps, and was %v", name, after, before)
	}
}

func TestTrain(t *testing.T) {
	names := []string{"gpt2_gen", "mixtral", "llama_gqa", "gemma2"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		ids := readIO(t, name).In["input_ids"]
		next := func(m languageModel) tensor.Tensor {
			return nn.CrossEntropy(m.Apply(ids.Slice(1, 0, 11)), ids.Slice(1, 1, 12)).Mean()
		}
		switch m := toDevice(t, name, tensor.CPU()).(type) {
		case *models.GPT2:
			trains(t, name, m, func(m *models.GPT2) tensor.Tensor { return next(m) })
		case *models.Llama:
			trains(t, name, m, func(m *models.Llama) tensor.Tensor { return next(m) })
		}
	}
	images := readIO(t, "vit").In["pixel_values"]
	trains(t, "vit", loadDir[*models.ViT](t, "testdata/vit"), func(m *models.ViT) tensor.Tensor {
		return nn.CrossEntropy(m.Apply(images), tensor.New([]int32{1, 5})).Mean()
	})
	io := readIO(t, "t5")
	trains(t, "t5", loadDir[*models.T5](t, "testdata/t5"), func(m *models.T5) tensor.Tensor {
		decoded := io.In["decoder_input_ids"]
		logits := m.Apply(io.In["input_ids"], io.In["attention_mask"], decoded.Slice(1, 0, 15))
		return nn.CrossEntropy(logits, decoded.Slice(1, 1, 16)).Mean()
	})
}
