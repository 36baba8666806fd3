package nn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func TestKVCache(t *testing.T) {
	rng := tensor.NewRNG(1)
	draw := func(time int) (q, k, v tensor.Tensor) {
		return rng.Normal(2, 4, time, 3), rng.Normal(2, 2, time, 3), rng.Normal(2, 2, time, 3)
	}
	q, k, v := draw(7)
	want := tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true})
	c := nn.NewKVCache(2, 2, 7, 3)
	at := 0
	for _, n := range []int{2, 0, 1, 3, 1} {
		part := func(x tensor.Tensor) tensor.Tensor { return x.Slice(2, at, at+n) }
		old := c
		var y tensor.Tensor
		y, c = c.Attend(part(q), part(k), part(v))
		at += n
		near(t, fmt.Sprintf("Attend to %d positions", at), y, want.Slice(2, at-n, at), 1e-5)
		near(t, fmt.Sprintf("%d keys", at), c.K.Slice(2, 0, at), k.Slice(2, 0, at), 0)
		near(t, fmt.Sprintf("%d values", at), c.V.Slice(2, 0, at), v.Slice(2, 0, at), 0)
		if _, err := old.K.Bytes(); n > 0 && at > n && (err == nil || !strings.Contains(err.Error(), "nn.KVCache at kvcache_test.go:")) {
			t.Errorf("reading the cache before %d positions: %v, want an error that names the line of Attend", at, err)
		}
		if c.Len != at {
			t.Errorf("Len is %d, want %d", c.Len, at)
		}
	}
	_, more, _ := draw(1)
	err := tensor.Try(func() { c.Append(more, more) })
	var e *tensor.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, "the cache is full: 7 of its 7 positions are taken, and 1 are to be added") {
		t.Errorf("a full cache: %v", err)
	}

	// With a tensor for the position that is an error of the result, and of all later ones.
	full := tree.Copy(c).OnDevice()
	for range 2 {
		var y tensor.Tensor
		y, full = full.Attend(q.Slice(2, 0, 1), more, more)
		if err := tensor.Eval(y); err == nil || !strings.Contains(err.Error(), "nn.KVCache: position 7 is out of range for the cache of 7, which is full") {
			t.Errorf("a full cache on a device: %v", err)
		}
	}

	// Back to position 3, with other tokens from there on.
	q2, k2, v2 := draw(2)
	c.Len = 3
	y, c := c.Attend(q2, k2, v2)
	all := tensor.Attention(q2, tensor.Cat(2, k.Slice(2, 0, 3), k2), tensor.Cat(2, v.Slice(2, 0, 3), v2), &tensor.AttentionOptions{Causal: true, Offset: 3})
	near(t, "after going back", y, all, 1e-5)

	// The first text is shorter by 2: its first positions do not count.
	c = nn.NewKVCache(2, 2, 7, 3)
	c.Valid = tensor.Arange(7).Ge(tensor.New([]int32{2, 0}, 2, 1))
	y, _ = c.Attend(q, k, v)
	last := func(x tensor.Tensor) tensor.Tensor { return x.Slice(0, 0, 1).Slice(2, 2, 7) }
	near(t, "a shorter text", last(y), tensor.Attention(last(q), last(k), last(v), &tensor.AttentionOptions{Causal: true}), 1e-5)
	near(t, "the longer text", y.At(1), want.At(1), 1e-5)
}

// A cache of a type keeps it, and attention has the type of its queries.
func TestKVCacheType(t *testing.T) {
	rng := tensor.NewRNG(1)
	q, k, v := rng.Normal(1, 4, 5, 8), rng.Normal(1, 2, 5, 8), rng.Normal(1, 2, 5, 8)
	want := tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true})
	c := nn.NewKVCache(1, 2, 8, 8)
	c.K, c.V = c.K.Cast(tensor.Float16), c.V.Cast(tensor.Float16)
	for _, n := range []int{2, 1, 1, 1} {
		part := func(x tensor.Tensor) tensor.Tensor { return x.Slice(2, c.Len, c.Len+n) }
		expected := part(want)
		var y tensor.Tensor
		y, c = c.Attend(part(q), part(k), part(v))
		near(t, fmt.Sprintf("Attend to %d positions", c.Len), y, expected, 3e-3)
		if c.K.DType() != tensor.Float16 || c.V.DType() != tensor.Float16 {
			t.Fatalf("after %d positions keys are %v and values %v, want float16", c.Len, c.K.DType(), c.V.DType())
		}
	}
	want = k.Cast(tensor.Float16)
	if err := tensor.Eval(want); err != nil {
		t.Fatal(err)
	}
	near(t, "keys", c.K.Slice(2, 0, 5), want, 0)
}

// A cache goes on with another length.
func TestKVCacheResize(t *testing.T) {
	rng := tensor.NewRNG(1)
	l := newAttention(rng, attentions["rotary"])
	x := rng.Normal(2, 6, 8)
	c := l.NewCache(2, 2)
	c.Valid = tensor.New([]bool{true, true, false, true}, 2, 2)
	fixed := l.NewCache(2, 6)
	fixed.Valid = tensor.New([]bool{true, true, true, true, true, true, false, true, true, true, true, true}, 2, 6)
	for i, part := range x.Split(1, 2, 1, 2, 1) {
		if n := part.Dim(1); c.Len+n > c.K.Dim(2) {
			c = c.Resize(2*c.K.Dim(2) - 1) // 2, 3, 5, 9
		}
		var got, want tensor.Tensor
		got, c = l.Decode(part, c)
		want, fixed = l.Decode(part, fixed)
		near(t, fmt.Sprintf("part %d", i), got, want, 1e-6)
	}
	if c = c.Resize(6); c.K.Dim(2) != 6 || c.Valid.Dim(1) != 6 || c.Len != 6 {
		t.Errorf("after Resize(6) keys are %v, Valid %v, Len %d", c.K.Shape(), c.Valid.Shape(), c.Len)
	}
	near(t, "the keys", c.K, fixed.K, 1e-6)
	if err := tensor.Try(func() { c.Resize(5) }); err == nil {
		t.Error("a length below the positions held: no error")
	}
}

// All tokens run one plan, the first of an empty cache too, and so do all parts of 4 tokens.
func TestKVCachePlans(t *testing.T) {
	rng := tensor.NewRNG(1)
	l := nn.NewAttention(rng, 12, 2)
	l.Rotary, l.ALiBi, l.Window = nn.Rotary{Base: 100}, true, 5
	x := rng.Normal(1, 1, 12)
	if err := tensor.Eval(l, x); err != nil {
		t.Fatal(err)
	}
	c := l.NewCache(1, 40)
	step := func(n int) {
		t.Helper()
		var y tensor.Tensor
		in := x
		if n > 1 {
			in = x.Expand(1, n, 12)
		}
		y, c = l.Decode(in, c)
		if err := tensor.Eval(y, c); err != nil {
			t.Fatal(err)
		}
	}
	step(1)
	plans := tensor.Info().Plans
	for range 10 {
		step(1)
	}
	if n := tensor.Info().Plans - plans; n > 0 {
		t.Errorf("10 tokens made %d more plans", n)
	}
	c = c.OnDevice()
	step(1)
	step(1) // Pos is the result of a step
	plans = tensor.Info().Plans
	for range 10 {
		step(1)
	}
	if n := tensor.Info().Plans - plans; n > 0 {
		t.Errorf("10 tokens with a tensor for the position made %d more plans", n)
	}
	c = l.NewCache(1, 40)
	step(4)
	plans = tensor.Info().Plans
	for range 5 {
		step(4)
	}
	if n := tensor.Info().Plans - plans; n > 0 {
		t.Errorf("5 parts of 4 tokens made %d more plans", n)
	}
}

// A function that is recorded once works at all positions of a cache with Pos.
func TestKVCacheJit(t *testing.T) {
	rng := tensor.NewRNG(1)
	type state struct {
		Layer nn.Attention
		X, Y  tensor.Tensor
		Cache nn.KVCache
	}
	runs := 0
	step := grad.Jit(func(s state) state {
		runs++
		s.Y, s.Cache = s.Layer.Decode(s.X, s.Cache)
		return s
	})
	for _, name := range []string{"rotary", "window", "ALiBi"} {
		l := newAttention(rng, attentions[name])
		x := rng.Normal(2, 7, 8)
		want := l.Apply(x)
		_, c := l.Decode(x.Slice(1, 0, 2), l.NewCache(2, 7))
		s := state{Layer: l, Cache: c.OnDevice()}
		runs = 0
		for i := 2; i < 7; i++ {
			s.X = x.Slice(1, i, i+1)
			s = step(s)
			near(t, fmt.Sprintf("%s, position %d", name, i), s.Y, want.Slice(1, i, i+1), 1e-5)
		}
		if runs > 4 { // two forms, each traced twice
			t.Errorf("%s: the function ran %d times for 5 positions", name, runs)
		}
		if err := tensor.Try(func() { step(s).Y.Sum().Item() }); err == nil || !strings.Contains(err.Error(), "which is full") {
			t.Errorf("%s: after the last position: %v", name, err)
		}
	}
}

// A step copies the cache with the new rows in their places, and reads the next one for the scores
// and the result.
func TestKVCacheBytes(t *testing.T) {
	rng := tensor.NewRNG(1)
	q, k, v := rng.Normal(1, 12, 1, 64), rng.Normal(1, 12, 1, 64), rng.Normal(1, 12, 1, 64)
	y, c := nn.NewKVCache(1, 12, 1024, 64).Attend(q, k, v)
	if err := tensor.Eval(y, q, k, v); err != nil {
		t.Fatal(err)
	}
	y, _ = c.Attend(q, k, v)
	plan := tensor.Explain(y)
	if first, _, _ := strings.Cut(plan, "\n"); !strings.HasPrefix(first, "5 kernels, 6.2 MiB moved") { // the cache is read once, and the rest is small
		t.Errorf("a step is\n%s", plan)
	}
}
