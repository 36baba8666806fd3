package gpt

import (
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// TestDecode compares the logits of a text in parts, with caches, with the logits of the
// whole.
func TestDecode(t *testing.T) {
	rng := tensor.NewRNG(1)
	m := New(rng, Size{Vocabulary: 7, Length: 6, Layers: 2, Width: 8, Heads: 2, Dropout: 0.5})
	ids := rng.Ints(7, 1, 6)
	caches := m.Caches()
	var parts []tensor.Tensor
	for _, part := range ids.Split(1, 3, 1, 2) {
		parts = append(parts, m.Decode(part, caches))
	}
	if ok, err := tensor.AllClose(tensor.Cat(1, parts...), m.Train(ids, nil), 1e-5, 1e-5); !ok || err != nil {
		t.Errorf("logits with caches %v, want %v: %v", tensor.Cat(1, parts...), m.Train(ids, nil), err)
	}
}

// TestWrite writes more tokens than the caches hold.
func TestWrite(t *testing.T) {
	rng := tensor.NewRNG(1)
	m := New(rng, Size{Vocabulary: 7, Length: 6, Layers: 1, Width: 8, Heads: 2})
	text := []int32{1, 2}
	best := func(logits tensor.Tensor) tensor.Tensor { return logits.ArgMax(-1) }
	for token := range m.Write(text, best) {
		// The caches begin again with the last 3 tokens each time that they are full.
		from := 0
		if len(text) > 6 {
			from = (len(text)-6-1)/3*3 + 3
		}
		want := int32(m.Train(tensor.New(text[from:], 1, len(text)-from), nil).Select(1, -1).ArgMax(-1).Item())
		if token != want {
			t.Fatalf("after %v token %d, want %d", text, token, want)
		}
		if text = append(text, token); len(text) == 20 {
			return
		}
	}
}

// Characters are tokens in their order.
func TestVocabulary(t *testing.T) {
	v := NewVocabulary("banana")
	ids, err := v.Encode("nab")
	if err != nil || !slices.Equal(ids, []int32{2, 0, 1}) || v.Decode(ids) != "nab" {
		t.Errorf("nab is %v, %q, %v", ids, v.Decode(ids), err)
	}
	if _, err := v.Encode("bar"); err == nil || !strings.Contains(err.Error(), "'r'") {
		t.Errorf("bar: error %v, want one with 'r'", err)
	}
}
