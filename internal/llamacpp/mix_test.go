package llamacpp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
)

// sources describes a Llama of a width of 256.
func sources(layers, heads, keys, experts int, tied bool) (gguf.Meta, []gguf.Source) {
	meta := gguf.Meta{{Key: "general.architecture", Value: "llama"}}
	for key, n := range map[string]int{"block_count": layers, "attention.head_count": heads, "attention.head_count_kv": keys, "expert_count": experts} {
		meta = append(meta, gguf.Pair{Key: "llama." + key, Value: uint32(n)})
	}
	var all []gguf.Source
	add := func(name string, shape ...int) { all = append(all, gguf.Source{Name: name + ".weight", Shape: shape}) }
	add("token_embd", 96, 256)
	add("output_norm", 256)
	if !tied {
		add("output", 96, 256)
	}
	for i := range layers {
		for name, shape := range map[string][]int{
			"attn_norm": {256}, "attn_q": {256, 256}, "attn_k": {256 * keys / heads, 256}, "attn_v": {256 * keys / heads, 256}, "attn_output": {256, 256},
			"ffn_gate": {512, 256}, "ffn_up": {512, 256}, "ffn_down": {256, 512},
		} {
			if experts > 0 && strings.HasPrefix(name, "ffn_") {
				name, shape = name+"_exps", append([]int{experts}, shape...)
			}
			add(fmt.Sprintf("blk.%d.%s", i, name), shape...)
		}
		if experts > 0 {
			add(fmt.Sprintf("blk.%d.ffn_gate_inp", i), experts, 256)
		}
	}
	return meta, all
}

// The types are those that llama.cpp's quantize chooses: of a model of 17 layers; of 16 with
// shared keys and one matrix for input and output; of 8 with 8 experts.
func TestMix(t *testing.T) {
	for _, c := range []struct{ name, plain, shared, sparse string }{
		{"q4_k_m", "Q4_K 102 Q6_K 19", "Q4_K 96 Q6_K 17", "Q4_K 29 Q5_K 8 Q6_K 5 Q8_0 16"},
		{"q4_k_s", "Q4_K 114 Q5_K 6 Q6_K 1", "Q4_K 106 Q5_K 6 Q6_K 1", "Q4_K 32 Q5_K 9 Q6_K 1 Q8_0 16"},
		{"q5_k_m", "Q5_K 102 Q6_K 19", "Q5_K 96 Q6_K 17", "Q5_K 37 Q6_K 5 Q8_0 16"},
		{"q5_k_s", "Q5_K 120 Q6_K 1", "Q5_K 112 Q6_K 1", "Q5_K 41 Q6_K 1 Q8_0 16"},
		{"q3_k_m", "Q3_K 69 Q4_K 48 Q5_K 3 Q6_K 1", "Q3_K 64 Q4_K 45 Q5_K 3 Q6_K 1", "Q3_K 25 Q4_K 8 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"q3_k_l", "Q3_K 69 Q5_K 51 Q6_K 1", "Q3_K 64 Q5_K 48 Q6_K 1", "Q3_K 33 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"q3_k_s", "Q3_K 120 Q6_K 1", "Q3_K 112 Q6_K 1", "Q3_K 33 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"q2_k", "Q2_K 69 Q3_K 51 Q6_K 1", "Q2_K 64 Q3_K 32 Q4_K 16 Q6_K 1", "Q2_K 25 Q3_K 8 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"q4_0", "Q4_0 120 Q6_K 1", "Q4_0 112 Q6_K 1", "Q4_0 41 Q6_K 1 Q8_0 16"},
		{"q6_k", "Q6_K 121", "Q6_K 113", "Q6_K 42 Q8_0 16"},
		{"tq1_0", "Q4_K 1 Q6_K 1 TQ1_0 119", "Q6_K 1 TQ1_0 112", "Q4_K 1 Q6_K 1 Q8_0 16 TQ1_0 40"},
		{"iq4_nl", "IQ4_NL 118 Q5_K 2 Q6_K 1", "IQ4_NL 94 Q5_K 18 Q6_K 1", "IQ4_NL 32 Q5_K 9 Q6_K 1 Q8_0 16"},
		{"iq4_xs", "IQ4_XS 118 Q5_K 2 Q6_K 1", "IQ4_XS 94 Q5_K 18 Q6_K 1", "IQ4_XS 32 Q5_K 9 Q6_K 1 Q8_0 16"},
		{"iq3_s", "IQ3_S 120 Q6_K 1", "IQ3_S 96 Q4_K 16 Q6_K 1", "IQ3_S 33 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"iq3_m", "IQ3_S 84 Q4_K 36 Q6_K 1", "IQ3_S 78 Q4_K 34 Q6_K 1", "IQ3_S 29 Q4_K 4 Q5_K 8 Q6_K 1 Q8_0 16"},
		{"q8_0", "Q8_0 121", "Q8_0 113", "Q8_0 58"},
		{"f16", "F16 121", "F16 113", "F16 58"},
	} {
		m, err := ParseMix(c.name)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{c.plain, c.shared, c.sparse} {
			meta, all := sources(17, 4, 4, 0, false)
			switch i {
			case 1:
				meta, all = sources(16, 8, 2, 0, true)
			case 2:
				meta, all = sources(8, 8, 2, 8, false)
			}
			counts := map[string]int{}
			for _, typ := range m.Choose(meta, all, false) {
				counts[typ.String()]++
			}
			got := ""
			for _, typ := range slices.Sorted(maps.Keys(counts)) {
				got += fmt.Sprintf(" %s %d", typ, counts[typ])
			}
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("%s, model %d: %q, want %q", c.name, i, got, want)
			}
		}
	}
	if _, err := ParseMix("q9"); err == nil || !strings.HasPrefix(err.Error(), `there is no type "q9": want one of F32, F16`) {
		t.Errorf("ParseMix of q9: %v", err)
	}
}

// Rows that are no whole blocks get a type of as many bits or more.
func TestFitting(t *testing.T) {
	for _, c := range []struct {
		typ, want gguf.Type
		row       int
	}{
		{gguf.Q4_K, gguf.Q4_K, 512}, {gguf.Q4_K, gguf.Q5_0, 896}, {gguf.Q6_K, gguf.Q8_0, 896}, {gguf.IQ2_XXS, gguf.IQ4_NL, 96}, {gguf.Q4_K, gguf.F16, 90},
	} {
		if got := fitting(c.typ, []int{3, c.row}); got != c.want {
			t.Errorf("%v for rows of %d: %v, want %v", c.typ, c.row, got, c.want)
		}
	}
}
