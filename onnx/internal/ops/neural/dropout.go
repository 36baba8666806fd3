package neural

import (
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// dropout drops elements in training mode alone, which is an input since version 12.
func dropout(c *op.Call) []T {
	x, ratio := c.Tensor(0), 0.5
	if c.Has(1) {
		ratio = c.Scalar(1)
	}
	if !(ratio >= 0 && ratio <= 1) {
		c.Fail("ratio is %v, want 0 to 1", ratio)
	}
	if training := c.Has(2) && c.Ints(2)[0] != 0; !training || ratio == 0 {
		mask := tensor.OnesOf(tensor.Bool, x.Shape()...)
		if c.Opset < 10 {
			mask = mask.Cast(x.DType())
		}
		return []T{x, mask}
	}
	keep := kept(c, x, ratio)
	return []T{tensor.Where(keep, x.Div(1-ratio), tensor.ZerosLike(x)), keep}
}

// kept says which elements of x are not dropped. With a seed the standard's reference implementation keeps the same,
// which draws from NumPy's RandomState.
func kept(c *op.Call, x T, ratio float64) T {
	a := c.Attr("seed")
	if a == nil {
		return c.Runner.RNG().Uniform(x.Shape()...).Ge(ratio)
	}
	keep, err := hostmem.Make(x.Len(), 1)
	if err != nil {
		c.Fail("a mask of shape %v: %v", x.Shape(), err)
	}
	draws := newTwister(uint32(a.I))
	for i := range keep {
		if draws.float64() >= ratio {
			keep[i] = 1
		}
	}
	return tensor.FromBytes(tensor.Bool, x.Shape(), keep)
}

// A twister draws as NumPy's RandomState does.
//
// Source: Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom number
// generator", 1998.
type twister struct {
	state [624]uint32
	next  int
}

func newTwister(seed uint32) *twister {
	t := &twister{}
	t.state[0] = seed
	for i := 1; i < len(t.state); i++ {
		x := t.state[i-1]
		t.state[i] = 1812433253*(x^x>>30) + uint32(i)
	}
	return t
}

func (t *twister) uint32() uint32 {
	const n, apart, twist = len(t.state), 397, 0x9908b0df
	i := t.next
	t.next = (i + 1) % n
	// The words that are drawn are replaced one by one, each when it is needed.
	x := t.state[i]&(1<<31) | t.state[t.next]&(1<<31-1)
	t.state[i] = t.state[(i+apart)%n] ^ x>>1 ^ x&1*twist
	x = t.state[i]
	x ^= x >> 11
	x ^= x << 7 & 0x9d2c5680
	x ^= x << 15 & 0xefc60000
	return x ^ x>>18
}

// float64 is from 0 up to 1.
func (t *twister) float64() float64 {
	high, low := t.uint32()>>5, t.uint32()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}
