package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Keys of each type are off by no more than the type says, scales of blocks and heads included.
func TestCacheTypes(t *testing.T) {
	const heads, time, width = 2, 5, 64
	rng := tensor.NewRNG(1)
	size := tensor.Arange(heads*time*2).Cast(tensor.Float32).Sub(8).Exp2().Reshape(1, heads, time, 2, 1)
	k := rng.Normal(1, heads, time, 2, width/2).Mul(size)
	k = tensor.Where(tensor.Arange(time).Eq(3).Reshape(time, 1, 1), 0, k).Reshape(1, heads, time, width)
	all, err := tensor.Data[float32](k)
	if err != nil {
		t.Fatal(err)
	}
	for typ, c := range map[nn.CacheType]struct {
		dtype           tensor.DType
		scales          int
		relative, block float64 // errors, of an element and of the greatest of a block
	}{
		nn.CacheF32:  {tensor.Float32, 0, 0, 0},
		nn.CacheF16:  {tensor.Float16, 0, 0x1p-11, 0},
		nn.CacheBF16: {tensor.BFloat16, 0, 0x1p-8, 0},
		nn.CacheQ8:   {tensor.Int8, 2, 0, 1.0 / 253},
		nn.CacheF8:   {tensor.Uint8, 1, 1.0 / 16, 0x1p-9 / 448},
	} {
		cache := nn.NewKVCache(1, heads, 8, width).As(typ).Append(k, k.Neg())
		if cache.K.DType() != c.dtype || cache.KScale.IsValid() != (c.scales > 0) || c.scales > 0 && !slices.Equal(cache.VScale.Shape(), []int{1, heads, 8, c.scales}) {
			t.Errorf("%s: K is %v, want %v with %d scales", typ, cache.K.DType(), c.dtype, c.scales)
		}
		bytes := cache.K.Len() * cache.K.DType().Size()
		if c.scales > 0 {
			bytes += 2 * cache.KScale.Len()
		}
		if n := typ.Bytes(width) * heads * 8; n != bytes {
			t.Errorf("%s: Bytes says %d, and the keys have %d", typ, n, bytes)
		}
		keys, values := cache.Held(tensor.Float32)
		near(t, string(typ)+": values", values.Slice(2, 0, time), keys.Slice(2, 0, time).Neg(), 0)
		got, err := tensor.Data[float32](keys.Slice(2, 0, time).Reshape(heads * time * width))
		if err != nil {
			t.Fatal(err)
		}
		block := width / max(1, c.scales)
		for i, x := range got {
			greatest := 0.0
			for _, y := range all[i/block*block:][:block] {
				greatest = max(greatest, math.Abs(float64(y)))
			}
			want := float64(all[i])
			if bound := 1.01*math.Abs(want)*c.relative + greatest*c.block + 0x1p-25; !(math.Abs(float64(x)-want) <= bound) {
				t.Errorf("%s: element %d is %v, want %v within %v", typ, i, x, want, bound)
				break
			}
		}
	}
}

// All codes of e4m3 are read and written as the format's table has them.
func TestCacheE4M3(t *testing.T) {
	var want []float32
	for code := range 127 { // the last is NaN
		e, m := code>>3, float64(code&7)/8
		x := math.Ldexp(m, -6)
		if e > 0 {
			x = math.Ldexp(1+m, e-7)
		}
		want = append(want, float32(x), float32(-x))
	}
	want = append(want, 448, -448)
	k := tensor.New(want, 1, 1, 1, len(want))
	c := nn.NewKVCache(1, 1, 1, len(want)).As(nn.CacheF8).Append(k, k)
	keys, _ := c.Held(tensor.Float32)
	near(t, "keys", keys, k, 0)
	// Halfway numbers are rounded to even ones.
	half := tensor.New([]float32{448, 17, 19, 17.01, 1.0625, 1.1875, -17, -19}, 1, 1, 1, 8)
	c = nn.NewKVCache(1, 1, 1, 8).As(nn.CacheF8).Append(half, half)
	keys, _ = c.Held(tensor.Float32)
	near(t, "halfway", keys, tensor.New([]float32{448, 16, 20, 18, 1, 1.25, -16, -20}, 1, 1, 1, 8), 0)
}

// A number that is not finite is seen in all attention to its block.
func TestCacheTypesNaN(t *testing.T) {
	for _, typ := range []nn.CacheType{nn.CacheQ8, nn.CacheF8} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			k := tensor.OnesOf(tensor.Float32, 1, 1, 2, 32).Set(bad, 0, 0, 1, 5)
			y, _ := nn.NewKVCache(1, 1, 4, 32).As(typ).Attend(tensor.OnesOf(tensor.Float32, 1, 1, 2, 32), tensor.OnesOf(tensor.Float32, 1, 1, 2, 32), k)
			list, err := tensor.Data[float32](y.Reshape(64))
			if err != nil || !(math.Abs(float64(list[0])-1) < 5e-3) || math.Abs(float64(list[32+5])) < math.MaxFloat32 {
				t.Errorf("%s, %v: %v, error %v: want ones, and no finite number for the second query", typ, bad, list, err)
			}
		}
	}
}

// Attention by a cache of each type is near to a cache of float32: of grouped heads, a window, ALiBi, texts of
// different lengths, in pieces, by steps on the device, after going back and with another length.
func TestCacheTypesAttend(t *testing.T) {
	rng := tensor.NewRNG(1)
	for name, l := range attentions {
		l := newAttention(rng, l)
		x := rng.Normal(2, 12, 8)
		run := func(typ nn.CacheType) (ys []tensor.Tensor) {
			c := l.NewCache(2, 8).As(typ)
			c.Valid = tensor.Arange(8).Ge(tensor.New([]int32{2, 0}, 2, 1))
			at := 0
			for _, n := range []int{4, 1, 1, 2, 1} {
				if at+n > 6 && c.K.Dim(2) == 8 {
					c = c.Resize(12)
				}
				if at == 5 {
					c = c.OnDevice()
				}
				var y tensor.Tensor
				y, c = l.Decode(x.Slice(1, at, at+n), c)
				ys, at = append(ys, y), at+n
			}
			return ys
		}
		want := run("")
		for typ, tol := range map[nn.CacheType]float64{nn.CacheF16: 2e-3, nn.CacheQ8: 2e-2, nn.CacheF8: 0.2} {
			for i, y := range run(typ) {
				near(t, fmt.Sprintf("%s, %s: part %d", name, typ, i), y.Slice(1, -1, y.Dim(1)), want[i].Slice(1, -1, y.Dim(1)), tol)
			}
		}
	}
}

func TestCacheTypeErrors(t *testing.T) {
	k := tensor.OnesOf(tensor.Float32, 1, 1, 1, 32)
	empty := nn.NewKVCache(1, 1, 4, 32)
	used, without, other := empty.Append(k, k), empty.As(nn.CacheQ8), empty.As(nn.CacheQ8)
	without.KScale = tensor.Tensor{}
	other.VScale = tensor.Zeros(1, 1, 4, 3)
	for want, f := range map[string]func(){
		`nn.KVCache: the type of a cache is "q4_0": want f32, f16, bf16, q8_0 or f8_e4m3`: func() { empty.As("q4_0") },
		"nn.KVCache: As needs an empty cache: positions are held":                         func() { used.As(nn.CacheQ8) },
		"K or V is int8 [1 1 4 32], and its scales do not fit":                            func() { without.Append(k, k) },
		"K or V is int8 [1 1 4 32], and its scales":                                       func() { other.Held(tensor.Float32) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Keys of which the scale is no normal number are stored as 0, and NaN of any bits as NaN.
func TestCacheOfSmallKeys(t *testing.T) {
	const width = 32
	for _, greatest := range []float64{1e-34, 1e-36, 1.65e-38, 1e-40, 1e-45} {
		for _, typ := range []nn.CacheType{nn.CacheQ8, nn.CacheF8} {
			k := tensor.Arange(width).Add(1).Cast(tensor.Float64).Mul(greatest/width).Cast(tensor.Float32).Reshape(1, 1, 1, width)
			keys, _ := nn.NewKVCache(1, 1, 1, width).As(typ).Append(k, k).Held(tensor.Float32)
			got, err := tensor.Data[float32](keys.Reshape(width))
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range got {
				want := greatest / width * float64(i+1)
				if kept := greatest >= 1e-34; x < 0 || !kept && x != 0 || kept && math.Abs(float64(x)-want) > greatest/16 {
					t.Errorf("%s: element %d is %v, want %v", typ, i, x, want)
					break
				}
			}
		}
	}
	bad := math.Float32frombits(math.MaxInt32)
	k := tensor.New([]float32{1, bad}, 1, 1, 1, 2)
	keys, _ := nn.NewKVCache(1, 1, 1, 2).As(nn.CacheQ8).Append(k, k).Held(tensor.Float32)
	if got, err := tensor.Data[float32](keys.Reshape(2)); err != nil || got[0] == got[0] || got[1] == got[1] {
		t.Errorf("a block with a NaN is %v, want NaN: %v", got, err)
	}
}
