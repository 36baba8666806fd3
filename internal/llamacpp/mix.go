package llamacpp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/gguf"
)

// A Mix chooses the types of a model's tensors, as a type of llama.cpp's quantize does.
//
// Source of the rules: llama.cpp, src/llama-quant.cpp, and its README of quantize.
type Mix struct {
	Name string
	File uint32    // general.file_type
	Base gguf.Type // of most matrices
}

var mixes = []Mix{
	{"F32", 0, gguf.F32}, {"F16", 1, gguf.F16}, {"BF16", 32, gguf.BF16},
	{"Q4_0", 2, gguf.Q4_0}, {"Q4_1", 3, gguf.Q4_1}, {"Q5_0", 8, gguf.Q5_0}, {"Q5_1", 9, gguf.Q5_1}, {"Q8_0", 7, gguf.Q8_0},
	{"Q2_K", 10, gguf.Q2_K}, {"Q2_K_S", 21, gguf.Q2_K},
	{"Q3_K_S", 11, gguf.Q3_K}, {"Q3_K_M", 12, gguf.Q3_K}, {"Q3_K_L", 13, gguf.Q3_K},
	{"Q4_K_S", 14, gguf.Q4_K}, {"Q4_K_M", 15, gguf.Q4_K}, {"Q5_K_S", 16, gguf.Q5_K}, {"Q5_K_M", 17, gguf.Q5_K}, {"Q6_K", 18, gguf.Q6_K},
	{"IQ1_S", 24, gguf.IQ1_S}, {"IQ1_M", 31, gguf.IQ1_M},
	{"IQ2_XXS", 19, gguf.IQ2_XXS}, {"IQ2_XS", 20, gguf.IQ2_XS}, {"IQ2_S", 28, gguf.IQ2_XS}, {"IQ2_M", 29, gguf.IQ2_S},
	{"IQ3_XXS", 23, gguf.IQ3_XXS}, {"IQ3_XS", 22, gguf.IQ3_S}, {"IQ3_S", 26, gguf.IQ3_S}, {"IQ3_M", 27, gguf.IQ3_S},
	{"IQ4_NL", 25, gguf.IQ4_NL}, {"IQ4_XS", 30, gguf.IQ4_XS},
	{"TQ1_0", 36, gguf.TQ1_0}, {"TQ2_0", 37, gguf.TQ2_0},
	{"MXFP4", 38, gguf.MXFP4}, {"NVFP4", 39, gguf.NVFP4}, {"Q1_0", 40, gguf.Q1_0}, {"Q2_0", 41, gguf.Q2_0},
}

// short names stand for the usual mixes.
var short = map[string]string{"Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M"}

// ParseMix returns the mix of a name, in any case.
func ParseMix(name string) (Mix, error) {
	upper := strings.ToUpper(name)
	if long, ok := short[upper]; ok {
		upper = long
	}
	var names []string
	for _, m := range mixes {
		if m.Name == upper {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mix{}, fmt.Errorf("there is no type %s: want one of %s", strconv.Quote(name), strings.Join(names, ", "))
}

// A place is where a tensor is in its model.
type place struct {
	index, count int  // among the tensors of its kind, one of each layer
	share        int  // heads of queries that share one of keys
	experts      int  // of each layer
	weighted     bool // there is an importance matrix
	layers       int
}

func first(n int) func(place) bool { return func(p place) bool { return p.index < n } }

func eighth(p place) bool { return p.index < p.count/8 }

// moreBits are the first and the last eighth, and each third of the others.
func moreBits(p place) bool {
	return eighth(p) || p.index >= 7*p.count/8 || (p.index-p.count/8)%3 == 2
}

func middle(p place) bool { return p.index >= p.count/8 && p.index < 7*p.count/8 }

func shared(p place) bool { return p.share >= 4 }

func many(p place) bool { return p.share >= 4 || p.experts >= 4 }

func eight(p place) bool { return p.experts == 8 }

func plain(p place) bool { return !p.weighted }

func both(f, g func(place) bool) func(place) bool {
	return func(p place) bool { return f(p) && g(p) }
}

// A rule gives tensors of a kind, in some mixes, another type than the mix's.
type rule struct {
	tensor string
	mixes  string // all, if empty
	when   func(place) bool
	typ    gguf.Type
}

const lowBits = "IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ2_M"

// rules has for each tensor the first of some that apply.
var rules = []rule{
	{"output", lowBits + " IQ3_XXS", nil, gguf.Q5_K},
	{"output", "Q8_0 Q1_0", nil, 0},
	{"output", "", nil, gguf.Q6_K},
	{"token_embd", "IQ1_S IQ1_M IQ2_XXS IQ2_XS", nil, gguf.Q2_K},
	{"token_embd", "IQ2_S IQ2_M IQ3_XXS", nil, gguf.IQ3_S},
	{"token_embd", "TQ1_0 TQ2_0", nil, gguf.Q4_K},

	{"attn_v", lowBits, many, gguf.Q4_K},
	{"attn_v", "IQ2_S IQ2_M", nil, gguf.IQ3_S},
	{"attn_v", lowBits, nil, gguf.Q2_K},
	{"attn_v", "", eight, gguf.Q8_0},
	{"attn_v", "Q2_K Q2_K_S IQ3_XXS IQ3_XS IQ3_S", shared, gguf.Q4_K},
	{"attn_v", "Q2_K", nil, gguf.Q3_K},
	{"attn_v", "IQ3_XXS", plain, gguf.IQ3_S},
	{"attn_v", "IQ3_M", nil, gguf.Q4_K},
	{"attn_v", "Q3_K_M", first(2), gguf.Q5_K},
	{"attn_v", "Q3_K_M", nil, gguf.Q4_K},
	{"attn_v", "Q3_K_L", nil, gguf.Q5_K},
	{"attn_v", "IQ4_NL IQ4_XS", shared, gguf.Q5_K},
	{"attn_v", "Q4_K_M Q5_K_M", moreBits, gguf.Q6_K},
	{"attn_v", "Q4_K_S", first(4), gguf.Q5_K},
	// Llama 2's and 3's largest models: eight heads share one of values, which is small.
	{"attn_v", "Q3_K_S Q4_K_S Q4_K_M", func(p place) bool { return p.layers == 80 }, gguf.Q5_K},

	{"attn_k", lowBits, eight, gguf.Q4_K},
	{"attn_k", lowBits, nil, 0},
	{"attn_k", "", eight, gguf.Q8_0},
	{"attn_k", "IQ3_XS", nil, gguf.IQ3_XXS},
	{"attn_k", "IQ3_XXS", nil, gguf.IQ2_S},
	{"attn_q", "IQ3_XS", nil, gguf.IQ3_XXS},
	{"attn_q", "IQ3_XXS", nil, gguf.IQ2_S},

	{"ffn_down", "IQ2_S IQ2_M", eighth, gguf.IQ3_S},
	{"ffn_down", lowBits, eighth, gguf.Q2_K},
	{"ffn_down", "Q2_K", nil, gguf.Q3_K},
	{"ffn_down", "Q2_K_S", eighth, gguf.Q4_K},
	{"ffn_down", "IQ3_XXS", both(plain, eighth), gguf.Q4_K},
	{"ffn_down", "IQ3_XXS", plain, gguf.Q3_K},
	{"ffn_down", "Q3_K_M", func(p place) bool { return p.index < p.count/16 }, gguf.Q5_K},
	{"ffn_down", "Q3_K_M", nil, gguf.Q4_K},
	{"ffn_down", "IQ3_M", func(p place) bool { return eighth(p) || eight(p) && moreBits(p) }, gguf.Q4_K},
	{"ffn_down", "Q3_K_L", nil, gguf.Q5_K},
	{"ffn_down", "Q4_K_M Q5_K_M", moreBits, gguf.Q6_K},
	{"ffn_down", "IQ4_NL IQ4_XS", both(plain, eighth), gguf.Q5_K},
	{"ffn_down", "Q4_K_S", eighth, gguf.Q5_K},
	{"ffn_down", "Q4_0", func(p place) bool { return p.weighted && eighth(p) }, gguf.Q4_1},
	{"ffn_down", "Q5_0", func(p place) bool { return p.weighted && eighth(p) }, gguf.Q5_1},

	{"attn_output", "Q2_K Q3_K_S Q3_K_M Q4_K_S Q4_K_M IQ3_XXS IQ3_XS IQ3_S IQ3_M IQ4_NL IQ4_XS " + lowBits, eight, gguf.Q5_K},
	{"attn_output", "Q3_K_L", eight, 0},
	{"attn_output", "IQ1_S IQ1_M", nil, gguf.IQ2_XXS},
	{"attn_output", "IQ2_S IQ2_M", nil, gguf.IQ3_S},
	{"attn_output", "Q2_K", nil, gguf.Q3_K},
	{"attn_output", "IQ3_XXS", nil, gguf.IQ3_S},
	{"attn_output", "Q3_K_M IQ3_M", nil, gguf.Q4_K},
	{"attn_output", "Q3_K_L", nil, gguf.Q5_K},

	{"attn_qkv", "Q3_K_M Q3_K_L IQ3_M", nil, gguf.Q4_K},
	{"attn_qkv", "Q4_K_M", nil, gguf.Q5_K},
	{"attn_qkv", "Q5_K_M", nil, gguf.Q6_K},
	{"ffn_gate", "IQ3_XS", middle, gguf.IQ3_XXS},
	{"ffn_up", "IQ3_XS", middle, gguf.IQ3_XXS},
}

// instead has the types of tensors whose rows do not have whole blocks.
var instead = map[gguf.Type]gguf.Type{
	gguf.Q2_K: gguf.IQ4_NL, gguf.Q3_K: gguf.IQ4_NL, gguf.Q4_K: gguf.Q5_0, gguf.Q5_K: gguf.Q5_1, gguf.Q6_K: gguf.Q8_0,
	gguf.IQ1_S: gguf.IQ4_NL, gguf.IQ1_M: gguf.IQ4_NL, gguf.IQ2_XXS: gguf.IQ4_NL, gguf.IQ2_XS: gguf.IQ4_NL, gguf.IQ2_S: gguf.IQ4_NL,
	gguf.IQ3_XXS: gguf.IQ4_NL, gguf.IQ3_S: gguf.IQ4_NL, gguf.IQ4_XS: gguf.IQ4_NL, gguf.TQ1_0: gguf.Q4_0, gguf.TQ2_0: gguf.Q4_0,
	gguf.Q1_0: gguf.Q4_0, gguf.Q2_0: gguf.Q4_0, gguf.NVFP4: gguf.MXFP4,
}

// keptWhole are kinds of matrices that are small, and whose errors are great.
var keptWhole = strings.Fields("ffn_gate_inp position_embd token_types attn_rel_b cross_attn_rel_b rope_freqs ssm_conv1d")

// kindOf returns the part of a tensor's name that rules have, and its layer.
func kindOf(name string) (kind string, layer int) {
	parts, end := cutEnd(name)
	if end != "weight" {
		return "", 0
	}
	for i, p := range parts {
		if n, err := strconv.Atoi(p); err == nil && i > 0 && parts[i-1] == "blk" {
			layer = n
		}
	}
	kind = parts[len(parts)-1]
	if _, err := strconv.Atoi(kind); err == nil && len(parts) > 1 { // an expert, in old files
		kind = parts[len(parts)-2]
	}
	return strings.TrimSuffix(kind, "_exps"), layer
}

// Choose returns the types of tensors, by name; those that it does not have keep theirs. weighted
// says that there is an importance matrix.
func (m Mix) Choose(meta gguf.Meta, tensors []gguf.Source, weighted bool) map[string]gguf.Type {
	number := func(key string) int {
		name, _ := gguf.Get[string](meta, "general.architecture")
		n, _ := gguf.Get[int](meta, name+"."+key)
		return n
	}
	p := place{experts: number("expert_count"), layers: number("block_count"), weighted: weighted, share: 1}
	if keys := number("attention.head_count_kv"); keys > 0 {
		p.share = number("attention.head_count") / keys
	}
	p.count = p.layers
	tied := !slices.ContainsFunc(tensors, func(s gguf.Source) bool { return s.Name == "output.weight" })
	types := map[string]gguf.Type{}
	for _, s := range tensors {
		kind, layer := kindOf(s.Name)
		if kind == "" || len(s.Shape) < 2 || slices.Contains(keptWhole, kind) || strings.HasSuffix(kind, "_norm") {
			continue
		}
		if kind == "token_embd" && tied {
			kind = "output"
		}
		p.index = layer
		types[s.Name] = fitting(m.typeOf(kind, p), s.Shape)
	}
	return types
}

func (m Mix) typeOf(kind string, p place) gguf.Type {
	for _, r := range rules {
		if m.Base.Quantised() && r.tensor == kind && (r.mixes == "" || slices.Contains(strings.Fields(r.mixes), m.Name)) && (r.when == nil || r.when(p)) {
			if r.typ == 0 {
				break
			}
			return r.typ
		}
	}
	return m.Base
}

// fitting returns a type, or another of as many bits or more, whose blocks rows have as a whole.
func fitting(t gguf.Type, shape []int) gguf.Type {
	row := shape[len(shape)-1]
	for {
		if n, _ := t.Block(); row%n == 0 {
			return t
		}
		next, ok := instead[t]
		if !ok {
			return gguf.F16
		}
		t = next
	}
}

// Pure returns the mix's type for each matrix.
func (m Mix) Pure(tensors []gguf.Source) map[string]gguf.Type {
	types := Mix{Name: "pure", Base: m.Base}.Choose(nil, tensors, false)
	for _, s := range tensors {
		if _, ok := types[s.Name]; ok {
			types[s.Name] = fitting(m.Base, s.Shape)
		}
	}
	return types
}
