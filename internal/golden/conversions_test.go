package golden

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// noConversions has the types that the file of conversions lacks. Package drivertest
// compares their conversions with package ir's.
var noConversions = map[string]bool{"uint16": true, "int16": true, "uint64": true}

// TestConversions converts edge values of each type to each type.
func TestConversions(t *testing.T) {
	f, err := safetensors.Open("testdata/differential/conversions.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tg := newTarget(t)
	for from := range dtypes {
		for to := range dtypes {
			if noConversions[from] || noConversions[to] || tg.gpu && (lacks(from) || lacks(to)) {
				continue
			}
			in, err := f.Tensor(from + "." + to + ".in")
			if err != nil {
				t.Fatal(err)
			}
			out, err := f.Tensor(from + "." + to + ".out")
			if err != nil {
				t.Fatal(err)
			}
			if in.DType().String() != from || out.DType().String() != to {
				t.Fatalf("the file has %v to %v as %s to %s", in.DType(), out.DType(), from, to)
			}
			for i, convert := range conversions {
				if tg.gpu && i > 0 { // each compiles a shader
					break
				}
				if err := tg.compareBits(in, convert(in.To(tg.d), out.DType()), out); err != nil {
					t.Errorf("%s to %s, conversion %d: %v", from, to, i, err)
				}
			}
		}
	}
}

// conversions convert x to type d: by Cast alone, and by Cast fused with other
// operations.
var conversions = []func(x tensor.Tensor, d tensor.DType) tensor.Tensor{
	tensor.Tensor.Cast,
	func(x tensor.Tensor, d tensor.DType) tensor.Tensor { return x.Flip().Cast(d).Flip() },
	func(x tensor.Tensor, d tensor.DType) tensor.Tensor { return identity(identity(x).Cast(d)) },
}

// identity returns x through a Where, which fuses and takes every type.
func identity(x tensor.Tensor) tensor.Tensor {
	return tensor.Where(tensor.Arange(x.Len()).Ge(0), x, tensor.ZerosLike(x))
}

// compareBits compares the conversions of in bit by bit, except that all NaN are
// equal. On a GPU it skips subnormal numbers, which are left to the device.
func (tg *target) compareBits(in, got, want tensor.Tensor) error {
	if got.DType() != want.DType() {
		return fmt.Errorf("got type %v, want %v", got.DType(), want.DType())
	}
	x, err := values(in)
	if err != nil {
		return err
	}
	w, err := values(want)
	if err != nil {
		return err
	}
	if got.DType() == tensor.Int64 { // float64 rounds it
		i, err := tensor.Data[int64](got)
		if err != nil {
			return err
		}
		j, err := tensor.Data[int64](want)
		if err != nil {
			return err
		}
		for k := range j {
			if i[k] != j[k] {
				return fmt.Errorf("of %v: got %v, want %v", x[k], i[k], j[k])
			}
		}
		return nil
	}
	g, err := values(got)
	if err != nil {
		return err
	}
	const normal = 0x1p-126
	for k := range w {
		if tg.gpu && (x[k] != 0 && math.Abs(x[k]) < normal || w[k] != 0 && math.Abs(w[k]) < normal) {
			continue
		}
		if math.Float64bits(g[k]) != math.Float64bits(w[k]) && !(math.IsNaN(g[k]) && math.IsNaN(w[k])) {
			return fmt.Errorf("of %v: got %v, want %v", x[k], g[k], w[k])
		}
	}
	return nil
}
