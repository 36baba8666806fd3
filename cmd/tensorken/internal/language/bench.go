package language

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tensorken/tensorken/llm"
)

// A speed is a row of the output of Bench: of prompts, or of tokens that are written one by one after
// as many others.
type speed struct {
	Work   string  `json:"work"` // prompt or decode
	Tokens int     `json:"tokens"`
	Speed  float64 `json:"tokens_per_second"`
}

// written is the number of tokens that are written to measure their speed.
const written = 32

// BenchOptions change how Bench works.
type BenchOptions struct {
	Device, CacheType string
	JSON              bool
}

// Bench measures how fast a model reads prompts and writes tokens, greedily: the best of two texts,
// after one that records the steps.
func Bench(ctx context.Context, path string, o BenchOptions, out, notes io.Writer) error {
	f := flags{device: o.Device, cacheType: o.CacheType, changed: func(string) bool { return false }}
	m, _, closeAll, err := f.load(ctx, path, notes)
	if err != nil {
		return err
	}
	defer closeAll()
	var speeds []speed
	for _, n := range []int{8, 128, 512, 1024} {
		if c := m.Context(); c > 0 && n+written > c {
			break
		}
		prompt, decode, err := measure(ctx, m, n)
		if err != nil {
			return err
		}
		speeds = append(speeds, speed{"prompt", n, prompt}, speed{"decode", n, decode})
	}
	if len(speeds) == 0 {
		return fmt.Errorf("the context of %d tokens is too short to measure", m.Context())
	}
	if o.JSON {
		return printLine(out, struct {
			Model   string  `json:"model"`
			Weights int64   `json:"weights"`
			Speeds  []speed `json:"speeds"`
		}{m.Name(), m.Memory().Weights, speeds})
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\ttokens\ttokens/s\t")
	for _, s := range speeds {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t\n", s.Work, s.Tokens, s.Speed)
	}
	return t.Flush()
}

// measure returns the tokens a second of a prompt, and of the tokens after it.
func measure(ctx context.Context, m *llm.Model, n int) (prompt, decode float64, err error) {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i % 64)
	}
	for i := range 3 {
		var t timing
		_, err := t.print(m.GenerateIDs(ctx, ids, &llm.GenerateOptions{MaxTokens: written}), io.Discard)
		if ctx.Err() != nil {
			return 0, 0, errors.New("interrupted")
		}
		if err != nil {
			return 0, 0, err
		}
		if i > 0 {
			prompt = max(prompt, float64(n)/max(1e-9, t.first.Sub(t.start).Seconds()))
			decode = max(decode, float64(t.tokens-1)/max(1e-9, t.last.Sub(t.first).Seconds()))
		}
	}
	return prompt, decode, nil
}
