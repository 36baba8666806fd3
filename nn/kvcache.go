package nn

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A KVCache holds the keys and values of the positions that a decoder has read, for up to
// a fixed number of positions. All its steps of one token have the same shapes, and run
// one plan: Len is an argument of the plan's programs.
//
// Each step returns the next cache and donates the old one, see [tensor.Donate], so that it writes
// the new positions alone. To go back to an earlier position, as after tokens that were rejected,
// set Len of the next one; to go on from one cache in two ways, copy it: tree.Copy.
type KVCache struct {
	// K and V are [batch heads capacity width], in the type that As says; [KVCache.Held] returns keys and values.
	K, V tensor.Tensor
	// KScale and VScale are [batch heads capacity scales], for [CacheQ8] and [CacheF8].
	KScale, VScale tensor.Tensor `tensor:",optional"`
	// Valid is false for positions to which no query attends, such as those before a
	// text that is shorter than the others of its batch. Absent: all are valid.
	Valid tensor.Tensor `tensor:",optional"` // bools, [batch capacity]
	Len   int           // the positions held
	// Pos, if it is not absent, has the positions held as an int32 tensor of one element, and
	// Len is not used: see OnDevice.
	Pos tensor.Tensor `tensor:",optional"`
}

// NewKVCache returns an empty cache of length positions, for keys and values of one width.
// It takes type and device of the first keys and values that it stores; see [KVCache.As] for another type.
func NewKVCache(batch, heads, length, width int) KVCache {
	defer named("NewKVCache")
	return KVCache{K: tensor.Zeros(batch, heads, length, width), V: tensor.Zeros(batch, heads, length, width)}
}

// As returns an empty cache that stores keys and values in a type: [CacheQ8] takes little more than half of the memory
// of float16. It panics with a *tensor.Error if positions are held, or the type is unknown.
func (c KVCache) As(t CacheType) KVCache {
	defer named("KVCache")
	if err := t.Check(); err != nil {
		fail("KVCache", "%v", err)
	}
	if c.Len > 0 || c.Pos.IsValid() {
		fail("KVCache", "As needs an empty cache: positions are held")
	}
	if t == "" {
		return c
	}
	empty := func(x tensor.Tensor) (codes, scale tensor.Tensor) {
		s := x.Shape()
		codes = tensor.Zeros(s...).Cast(cacheTypes[t].DType)
		if cacheTypes[t].scaled {
			scale = tensor.Zeros(append(s[:3:3], t.scales(s[3]))...).Cast(scaleType)
		}
		return codes, scale
	}
	c.checkRank()
	c.K, c.KScale = empty(c.K)
	c.V, c.VScale = empty(c.V)
	return c
}

// OnDevice returns the cache with Pos in place of Len. A function that is recorded once, as
// with grad.Jit, then works at all positions. Call it after the prompt, when the cache has
// the type and the device of its keys. That a cache is full is an error when the results
// are computed. Evaluate the cache with the results.
func (c KVCache) OnDevice() KVCache {
	if !c.Pos.IsValid() {
		c.Pos, c.Len = tensor.New([]int32{int32(c.Len)}).Reshape(), 0
		if d := c.K.Device(); d != nil {
			c.Pos = c.Pos.To(d)
		}
	}
	return c
}

// Position returns the number of positions held: Pos, or Len.
func (c KVCache) Position() tensor.Operand {
	if c.Pos.IsValid() {
		return c.Pos
	}
	return c.Len
}

// Append returns the cache with keys k and values v of shape [batch heads time width]
// stored at the time positions starting at Len. If fewer are left, it panics with a
// *tensor.Error. It donates c.
func (c KVCache) Append(k, v tensor.Tensor) KVCache {
	defer named("KVCache")
	c, _ = c.append(k, v)
	return c
}

// append also returns the position of the first of the keys.
func (c KVCache) append(k, v tensor.Tensor) (next KVCache, at tensor.Operand) {
	c.check(k, v)
	n := k.Dim(2)
	switch {
	case n == 0:
		return c, c.Position()
	case c.Pos.IsValid():
		// All layers of a model store the same positions: of constants and Pos alone they are computed once.
		number := func(n int) tensor.Tensor { return tensor.Internal.Constant(graph.Token{}, tensor.Int32, float64(n)) }
		last := tensor.Internal.Positions(graph.Token{}, "nn.KVCache", "position", "the cache of %d, which is full", c.K, c.Pos.Reshape().Add(number(n-1)), c.K.Dim(2)).Keep()
		at = last.Sub(number(n - 1))
		c.Pos = last.Add(number(1)).Keep()
	default:
		if c.Len == 0 { // its elements are not used
			c.K, c.V, c.KScale, c.VScale = stored(c.K, k), stored(c.V, v), stored(c.KScale, k), stored(c.VScale, v)
		}
		at = c.Len
		c.Len += n
	}
	before := c
	c.K, c.KScale = put(c.K, c.KScale, k, at)
	c.V, c.VScale = put(c.V, c.VScale, v, at)
	tensor.Internal.Donate(graph.Token{}, "nn.KVCache", "use the next cache, or keep a copy of this one, which tree.Copy makes", before.K, before.V, before.KScale, before.VScale)
	return c, at
}

// Resize returns the cache with another length, of at least the positions held. The cost of
// a step grows with the length, and each length needs its own plan: so begin with a short
// cache and double it when it is full.
func (c KVCache) Resize(length int) KVCache {
	defer named("KVCache")
	if length < c.Len {
		fail("KVCache", "%d positions are held, which a length of %d would not", c.Len, length)
	}
	resized := func(x tensor.Tensor, axis int) tensor.Tensor {
		if !x.IsValid() {
			return x
		}
		n := min(x.Dim(axis), length)
		return x.Slice(axis, 0, n).Pad(axis, 0, length-n).Keep()
	}
	c.K, c.V, c.KScale, c.VScale = resized(c.K, 2), resized(c.V, 2), resized(c.KScale, 2), resized(c.VScale, 2)
	if c.Valid.IsValid() { // positions to come are valid
		c.Valid = resized(c.Valid.Not(), 1).Not()
	}
	return c
}

// Attend stores keys k and values v as Append does, and returns [tensor.Attention] of
// queries q of shape [batch heads time width] at the same positions, each of which attends
// to the positions up to its own. The heads of the cache may be fewer than q's, see there.
func (c KVCache) Attend(q, k, v tensor.Tensor) (tensor.Tensor, KVCache) {
	defer named("KVCache")
	c, at := c.append(k, v)
	k, v = c.Held(q.DType())
	return tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true, Offset: at, Mask: c.mask()}), c
}

// Held returns keys and values of all positions, [batch heads capacity width], in a type. Positions that are not held
// have any numbers.
func (c KVCache) Held(d tensor.DType) (k, v tensor.Tensor) {
	defer named("KVCache")
	c.checkRank()
	return decode(c.K, c.KScale, d), decode(c.V, c.VScale, d)
}

// mask returns Valid as a mask of scores, absent if it is.
func (c KVCache) mask() tensor.Tensor {
	if !c.Valid.IsValid() {
		return tensor.Tensor{}
	}
	return PaddingMask(c.Valid)
}

// checkRank panics unless the cache has keys, values and their scales.
func (c KVCache) checkRank() {
	for _, x := range [][2]tensor.Tensor{{c.K, c.KScale}, {c.V, c.VScale}} {
		if !x[0].IsValid() || x[0].Rank() != 4 {
			fail("KVCache", "K or V is not [batch heads capacity width]: make the cache with nn.NewKVCache")
		}
		s, codes := x[0].Shape(), x[0].DType() == tensor.Int8 || x[0].DType() == tensor.Uint8
		if x[1].IsValid() != codes || codes && (x[1].Rank() != 4 || !slices.Equal(x[1].Shape()[:3], s[:3]) || x[1].Dim(3)*(s[3]/max(1, x[1].Dim(3))) != s[3]) {
			fail("KVCache", "K or V is %v %v, and its scales do not fit: make the cache with KVCache.As", x[0].DType(), s)
		}
	}
}

// check panics unless k and v fit in the rest of the cache.
func (c KVCache) check(k, v tensor.Tensor) {
	c.checkRank()
	capacity := c.K.Dim(2)
	for _, x := range [][2]tensor.Tensor{{c.K, k}, {c.V, v}} {
		in, of := x[0].Shape(), x[1].Shape()
		if len(of) != 4 || in[0] != of[0] || in[1] != of[1] || in[2] != capacity || k.Dim(2) != of[2] || in[3] != of[3] {
			fail("KVCache", "keys or values %v do not fit the cache %v: want [batch heads time width]", of, in)
		}
	}
	if c.Pos.IsValid() && (c.Pos.Len() != 1 || c.Pos.DType() != tensor.Int32) {
		fail("KVCache", "Pos is %v %v, want an int32 tensor of one element", c.Pos.DType(), c.Pos.Shape())
	}
	if n := k.Dim(2); c.Len < 0 || c.Len > capacity-n {
		fail("KVCache", "the cache is full: %d of its %d positions are taken, and %d are to be added. Make it longer, or begin another with the last part of the text", c.Len, capacity, n)
	}
}

// put returns keys or values, and their scales, with x stored starting at a position.
func put(into, scales, x tensor.Tensor, at tensor.Operand) (next, nextScales tensor.Tensor) {
	index, n := tensor.Arange(x.Dim(2)).Add(at), 0
	if scales.IsValid() {
		n = scales.Dim(3)
	}
	codes, scale := encode(x, into.DType(), n)
	if n > 0 {
		scales = scales.Put(2, index, scale).Keep()
	}
	return into.Put(2, index, codes).Keep(), scales
}

// stored returns x, or zeros of its shape, stored on y's device in its own type, or in y's if it is untyped: so
// that the first step runs the plan of later ones.
func stored(x, y tensor.Tensor) tensor.Tensor {
	if !x.IsValid() {
		return x
	}
	n, d := tensor.Internal.Node(graph.Token{}, x), x.DType()
	if n.IsUntyped() {
		d = y.DType()
	}
	if n.Value() != nil && x.DType() == d && x.Device() == y.Device() {
		return x
	}
	z := tensor.Full(0, x.Shape()...).Cast(d)
	if d := y.Device(); d != nil {
		z = z.To(d)
	}
	if err := tensor.Eval(z); err != nil {
		panic(err) // a *tensor.DeviceError
	}
	return z
}

// PaddingMask returns a mask of scores [batch 1 1 keys] for bools valid of shape [batch keys],
// false for keys that are padding.
func PaddingMask(valid tensor.Tensor) tensor.Tensor {
	defer named("PaddingMask")
	if valid.Rank() != 2 || valid.DType() != tensor.Bool {
		fail("PaddingMask", "the input is %v %v, want bools [batch keys]", valid.DType(), valid.Shape())
	}
	return valid.Unsqueeze(1, 2)
}
