package nn

import (
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
	// K and V are [batch heads capacity width]. Keys of another type are cast when they are stored, so float16 or
	// bfloat16 halves the memory of a model in float32.
	K, V tensor.Tensor
	// Valid is false for positions to which no query attends, such as those before a
	// text that is shorter than the others of its batch. Absent: all are valid.
	Valid tensor.Tensor `tensor:",optional"` // bools, [batch capacity]
	Len   int           // the positions held
	// Pos, if it is not absent, has the positions held as an int32 tensor of one element, and
	// Len is not used: see OnDevice.
	Pos tensor.Tensor `tensor:",optional"`
}

// NewKVCache returns an empty cache of length positions, for keys and values of one width.
// It takes type and device of the first keys and values that it stores; Cast K and V for another type.
func NewKVCache(batch, heads, length, width int) KVCache {
	defer named("NewKVCache")
	return KVCache{K: tensor.Zeros(batch, heads, length, width), V: tensor.Zeros(batch, heads, length, width)}
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
			c.K, c.V = stored(c.K, k), stored(c.V, v)
		}
		at = c.Len
		c.Len += n
	}
	before := c
	c.K, c.V = put(c.K, k, at), put(c.V, v, at)
	tensor.Internal.Donate(graph.Token{}, "nn.KVCache", "use the next cache, or keep a copy of this one, which tree.Copy makes", before.K, before.V)
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
	c.K, c.V = resized(c.K, 2), resized(c.V, 2)
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
	k, v = c.held(q)
	return tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true, Offset: at, Mask: c.mask()}), c
}

// held returns the keys and values in the type of queries.
func (c KVCache) held(q tensor.Tensor) (k, v tensor.Tensor) {
	return c.K.Cast(q.DType()), c.V.Cast(q.DType())
}

// mask returns Valid as a mask of scores, absent if it is.
func (c KVCache) mask() tensor.Tensor {
	if !c.Valid.IsValid() {
		return tensor.Tensor{}
	}
	return PaddingMask(c.Valid)
}

// check panics unless k and v fit in the rest of the cache.
func (c KVCache) check(k, v tensor.Tensor) {
	if !c.K.IsValid() || !c.V.IsValid() || c.K.Rank() != 4 || c.V.Rank() != 4 {
		fail("KVCache", "K or V is not [batch heads capacity width]: make the cache with nn.NewKVCache")
	}
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

// put returns into with x stored starting at a position.
func put(into, x tensor.Tensor, at tensor.Operand) tensor.Tensor {
	return into.Put(2, tensor.Arange(x.Dim(2)).Add(at), x.Cast(into.DType())).Keep()
}

// stored returns x, or zeros of its shape, stored on y's device in its own type, or in y's if it is untyped: so
// that the first step runs the plan of later ones.
func stored(x, y tensor.Tensor) tensor.Tensor {
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
