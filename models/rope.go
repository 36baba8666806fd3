package models

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A rope is the object rope_parameters of a config.json, or rope_scaling in older ones.
type rope struct {
	Theta        float64 `config:"rope_theta"`
	Type         string  `config:"rope_type"`
	OldType      string  `config:"type"`
	Partial      float64 `config:"partial_rotary_factor"`
	Factor       float64 `config:"factor"`
	Length       int     `config:"original_max_position_embeddings"`
	LowFreq      float64 `config:"low_freq_factor"`
	HighFreq     float64 `config:"high_freq_factor"`
	Magnitude    float64 `config:"attention_factor"`
	BetaFast     float64 `config:"beta_fast"`
	BetaSlow     float64 `config:"beta_slow"`
	Mscale       float64 `config:"mscale"`
	MscaleAllDim float64 `config:"mscale_all_dim"`
	Truncate     bool    `config:"truncate"`
	// Factors are the divisors of rates in GGUF files.
	Factors []float64 `config:"factors"`
	// Short and Long are divisors of rates in texts up to Length, and in longer ones.
	Short []float64 `config:"short_factor"`
	Long  []float64 `config:"long_factor"`
}

// rotary returns the rotation of heads of a width, of a model of length positions, by objects of
// c. In older files some settings are not in the object: r has them.
func (c config) rotary(r rope, length, width int, objects ...string) (nn.Rotary, error) {
	r.Truncate = true
	for _, name := range objects {
		part, err := c.part(name)
		if err == nil {
			err = part.read(&r)
		}
		if err != nil {
			return nn.Rotary{}, err
		}
	}
	if !(r.Theta > 0) {
		return nn.Rotary{}, c.errorf("rope_theta is %v: want more than 0", r.Theta)
	}
	if !(r.Partial > 0 && r.Partial <= 1) {
		return nn.Rotary{}, c.errorf("partial_rotary_factor is %v: want more than 0 and at most 1", r.Partial)
	}
	rotary := nn.Rotary{Base: r.Theta, Width: int(float64(width) * r.Partial)}
	kind := cmp.Or(r.Type, r.OldType, "default")
	switch {
	case r.Factors != nil:
		rotary.Scaling = rateFactors(r.Factors)
		return rotary, nil
	case kind == "default":
		return rotary, nil
	}
	scaling := scalings[kind]
	switch {
	case scaling == nil:
		return rotary, c.errorf("rotary positions of type %q are not supported: want default, %s", kind,
			strings.Join(slices.Sorted(maps.Keys(scalings)), ", "))
	case (kind == "longrope" || kind == "su") && (len(r.Short) != rotary.Width/2 || len(r.Long) != rotary.Width/2 || r.Length == 0):
		return rotary, c.errorf("rotary positions of type %q: want %d factors each in short_factor and long_factor, and original_max_position_embeddings", kind, rotary.Width/2)
	case !(r.Factor > 0) && !(r.Length > 0 && (kind == "yarn" || kind == "longrope" || kind == "su")):
		return rotary, c.errorf("rotary positions of type %q: there is no factor", kind)
	case kind == "llama3" && !(0 < r.LowFreq && r.LowFreq < r.HighFreq):
		return rotary, c.errorf("low_freq_factor is %v and high_freq_factor %v: want the first above 0 and below the second", r.LowFreq, r.HighFreq)
	}
	rotary.Scaling = scaling(r, length)
	return rotary, nil
}

// scalings makes the scalings of a model of length positions, by rope_type.
var scalings = map[string]func(r rope, length int) nn.RotaryScaling{
	"linear":  func(r rope, _ int) nn.RotaryScaling { return nn.LinearScaling{Factor: r.Factor} },
	"dynamic": func(r rope, length int) nn.RotaryScaling { return nn.DynamicScaling{Factor: r.Factor, Length: length} },
	"llama3": func(r rope, length int) nn.RotaryScaling {
		return nn.Llama3Scaling{Factor: r.Factor, LowFreq: r.LowFreq, HighFreq: r.HighFreq, Length: cmp.Or(r.Length, length)}
	},
	"yarn": rope.yarn, "longrope": rope.long, "su": rope.long,
}

// rateFactors divide the rates of pairs: llama.cpp's files have them in place of the settings of
// Llama 3.
type rateFactors []float64

// Rates returns the scaled rates.
func (f rateFactors) Rates(r nn.Rotary, width int, _ tensor.Tensor) (tensor.Tensor, float64) {
	if len(f) != width/2 {
		fail("Rotary", fmt.Sprintf("there are %d factors of rates, and %d pairs are rotated", len(f), width/2))
	}
	rates := make([]float32, len(f))
	for i, by := range f {
		rates[i] = float32(math.Pow(r.Base, -2*float64(i)/float64(width)) / by)
	}
	return tensor.New(rates, len(rates)), 1
}

// longFactors divide the rates of pairs, by short ones in texts of up to length positions. The keys of a cache
// stay as they were rotated.
//
// Source: Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens", 2024.
type longFactors struct {
	short, long rateFactors
	length      int
	magnitude   float64
}

func (r rope) long(length int) nn.RotaryScaling {
	f := longFactors{r.Short, r.Long, r.Length, r.Magnitude}
	if scale := cmp.Or(r.Factor, float64(length)/float64(r.Length)); f.magnitude == 0 {
		f.magnitude = 1
		if scale > 1 && r.Length > 1 {
			f.magnitude = math.Sqrt(1 + math.Log(scale)/math.Log(float64(r.Length)))
		}
	}
	return f
}

// Rates returns the scaled rates, and the factor that keeps the spread of scores.
func (f longFactors) Rates(r nn.Rotary, width int, positions tensor.Tensor) (tensor.Tensor, float64) {
	short, _ := f.short.Rates(r, width, positions)
	long, _ := f.long.Rates(r, width, positions)
	return tensor.Where(positions.Max().Reshape().Ge(f.length), long, short), f.magnitude
}

func (r rope) yarn(length int) nn.RotaryScaling {
	s := nn.YaRNScaling{
		Factor: r.Factor, Length: cmp.Or(r.Length, length),
		BetaFast: r.BetaFast, BetaSlow: r.BetaSlow, Magnitude: r.Magnitude, Exact: !r.Truncate,
	}
	if s.Factor == 0 {
		s.Factor = float64(length) / float64(r.Length)
	}
	if r.Magnitude == 0 && r.Mscale != 0 && r.MscaleAllDim != 0 {
		magnitude := func(m float64) float64 { return 0.1*m*math.Log(max(s.Factor, 1)) + 1 }
		s.Magnitude = magnitude(r.Mscale) / magnitude(r.MscaleAllDim)
	}
	return s
}
