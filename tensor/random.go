package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// An RNG hands out random tensors. Each draw takes the next key: a pure
// function of the seed and the number of draws before. The elements are a
// pure function of that key and their positions (the Threefry function of
// Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011, in
// the form JAX uses), so they are equal on every device, but for the last bits
// of Normal and TruncNormal, which compute elementary functions.
//
// Of an RNG made by [NewRNG], Seed and Count are the whole state: store both,
// and an RNG{Seed: s, Count: c} goes on where the other stood. An RNG is for
// one goroutine; [RNG.Keys] makes keys for others.
type RNG struct {
	Seed  uint64 // where the sequence starts
	Count uint64 // how many keys have been handed out

	key Tensor `tensor:"-"` // in place of Seed, if valid
}

// NewRNG returns an RNG that starts from a seed.
func NewRNG(seed uint64) *RNG { return &RNG{Seed: seed} }

// KeyRNG returns an RNG that starts from a key, a uint32 tensor [2], such as a
// row of [RNG.Keys]. It cannot be stored in files.
func KeyRNG(key Tensor) *RNG {
	n := key.node("KeyRNG")
	if n.DType != ir.Uint32 || !slices.Equal(n.Shape, []int{2}) {
		fail("KeyRNG", "a key is a uint32 tensor [2]", n)
	}
	return &RNG{key: key}
}

// next hands out a key: its two words, each repeated to a shape.
func (r *RNG) next(s []int) [2]*graph.Node {
	count := 2 * r.Count
	r.Count++
	word := func(w uint32) *graph.Node { return graph.Scalar(ir.Uint32, ir.Number(w), s) }
	if !r.key.IsValid() {
		k0, k1 := r.host(count)
		return [2]*graph.Node{word(k0), word(k1)}
	}
	var key [2]*graph.Node
	one := func(w uint64) *graph.Node { return graph.Scalar(ir.Uint32, ir.Number(uint32(w)), []int{}) }
	for i := range key {
		at := count + uint64(i)
		key[i] = graph.BroadcastTo(graph.Elementwise(ir.Threefry,
			r.key.At(0).n, r.key.At(1).n, one(at>>32), one(at)), s)
	}
	return key
}

// host is the key of an RNG made from a seed: that of next, computed here so
// that it is an argument of the program and no part of it.
func (r *RNG) host(count uint64) (k0, k1 uint32) {
	s0, s1 := uint32(r.Seed>>32), uint32(r.Seed)
	return threefry(s0, s1, uint32(count>>32), uint32(count)),
		threefry(s0, s1, uint32((count+1)>>32), uint32(count+1))
}

// threefry is the op Threefry: Threefry-2x32 of 20 rounds, both words xored.
func threefry(k0, k1, x0, x1 uint32) uint32 {
	rotations := [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}
	keys := [3]uint32{k0, k1, k0 ^ k1 ^ 0x1bd11bda}
	x0, x1 = x0+keys[0], x1+keys[1]
	for round := range uint32(5) {
		for _, n := range rotations[round%2] {
			x0 += x1
			x1 = bits.RotateLeft32(x1, n) ^ x0
		}
		x0 += keys[(round+1)%3]
		x1 += keys[(round+2)%3] + round + 1
	}
	return x0 ^ x1
}

// randomBits are random words for each element of a shape.
func randomBits(key [2]*graph.Node, s []int, stream uint32) *graph.Node {
	lo := graph.Reshape(position([]int{graph.Len(s)}, 0, ir.Uint32), s)
	return graph.Elementwise(ir.Threefry, key[0], key[1], graph.Const(ir.Uint32, ir.Number(stream), s), lo)
}

// check panics on behalf of op if there is no RNG.
func (r *RNG) check(op string) {
	if r == nil {
		fail(op, "the *RNG is nil: make one with NewRNG")
	}
}

// drawn checks and copies the shape of a draw.
func (r *RNG) drawn(op string, lengths []int) []int {
	r.check(op)
	s := append([]int{}, lengths...)
	checkShape(op, s)
	checkCount(op, graph.Len(s))
	return s
}

// unit is uniform in [0, 1): the upper 24 bits of a word.
func unit(word *graph.Node) *graph.Node {
	upper := graph.Binary(ir.Shr, word, graph.Const(ir.Uint32, 8, word.Shape))
	return scaled(graph.Cast(upper, ir.Float32), 0x1p-24)
}

// openUnit is uniform in (0, 1), without both ends: the upper 23 bits of a
// word and a half.
func openUnit(word *graph.Node) *graph.Node {
	upper := graph.Binary(ir.Shr, word, graph.Const(ir.Uint32, 9, word.Shape))
	return scaled(shifted(graph.Cast(upper, ir.Float32), 0.5), 0x1p-23)
}

// Uniform returns float32 numbers, uniform in [0, 1): multiples of 2⁻²⁴.
func (r *RNG) Uniform(lengths ...int) Tensor {
	s := r.drawn("Uniform", lengths)
	return Tensor{n: unit(randomBits(r.next(s), s, 0))}
}

// Normal returns float32 numbers of the standard normal distribution.
func (r *RNG) Normal(lengths ...int) Tensor {
	s := r.drawn("Normal", lengths)
	key := r.next(s)
	// Box and Muller: a radius and an angle.
	radius := graph.Unary(ir.Sqrt, scaled(log(openUnit(randomBits(key, s, 0))), -2))
	angle := scaled(shifted(unit(randomBits(key, s, 1)), -0.5), 2*math.Pi)
	return Tensor{n: mul(radius, graph.Unary(ir.Cos, angle))}
}

// TruncNormal returns float32 numbers of the standard normal distribution
// without what lies outside [-2, 2].
func (r *RNG) TruncNormal(lengths ...int) Tensor {
	s := r.drawn("TruncNormal", lengths)
	u := openUnit(randomBits(r.next(s), s, 0))
	edge := math.Erf(math.Sqrt2) // erf of -2 to 2 over √2 is -edge to edge
	x := scaled(erfinv(shifted(scaled(u, 2*edge), -edge)), math.Sqrt2)
	two := fill(x, 2)
	return Tensor{n: graph.Binary(ir.Max, neg(two), graph.Binary(ir.Min, x, two))}
}

// erfinv is the inverse of Erf for |x| < 0.99. The polynomial is from Giles,
// "Approximating the erfinv function", GPU Computing Gems, 2011.
func erfinv(x *graph.Node) *graph.Node {
	w := neg(log(mul(shifted(neg(x), 1), shifted(x, 1))))
	w = shifted(w, -2.5)
	p := fill(x, 2.81022636e-08)
	for _, c := range []float64{3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
		-0.00125372503, -0.00417768164, 0.246640727, 1.50140941} {
		p = shifted(mul(p, w), c)
	}
	return mul(p, x)
}

// Ints returns int32 numbers in [0, n), n at least 1. The least of them are
// more likely than the others by a part of n/2³².
func (r *RNG) Ints(n int, lengths ...int) Tensor {
	if n < 1 || n > math.MaxInt32 {
		fail("Ints", fmt.Sprintf("no int32 lies in [0, %d)", n))
	}
	s := r.drawn("Ints", lengths)
	word := randomBits(r.next(s), s, 0)
	bound := graph.Scalar(ir.Uint32, ir.Number(n), s)
	return Tensor{n: graph.Cast(graph.Binary(ir.Rem, word, bound), ir.Int32)}
}

// Bernoulli returns bools of p's shape, each true with the probability that is
// p's element.
func (r *RNG) Bernoulli(p Tensor) Tensor {
	x := p.floats("Bernoulli")
	s := r.drawn("Bernoulli", x.Shape)
	u := unit(randomBits(r.next(s), s, 0))
	return Tensor{n: lt(graph.Cast(u, x.DType), x)}
}

// Categorical returns int32 positions along the last axis of p, which it
// drops, each with the probability that is p's element there. The
// probabilities need not add up to 1.
func (r *RNG) Categorical(p Tensor) Tensor {
	x := p.floats("Categorical")
	if len(x.Shape) == 0 {
		fail("Categorical", "the last axis is that of the probabilities", x)
	}
	// The greatest of log p + g is a draw from p if g has Gumbel's distribution.
	s := r.drawn("Categorical", x.Shape)
	u := openUnit(randomBits(r.next(s), s, 0))
	gumbel := neg(log(neg(log(u))))
	return Tensor{n: argMax("Categorical", add(log(graph.Cast(x, ir.Float32)), gumbel), -1, false)}
}

// Perm returns the int32 numbers 0 to n-1 in random order. Unlike the other
// draws, it computes the key of an RNG made by [KeyRNG].
func (r *RNG) Perm(n int) Tensor {
	r.check("Perm")
	checkCount("Perm", n)
	var k0, k1 uint32
	if r.key.IsValid() {
		if n := r.key.n; n.IsExample() && !n.IsLeftOver() {
			fail("Perm", "inside of grad.Vmap a key made of examples has no value, which Perm needs: make the permutations outside, Stack them and pass them in", n)
		}
		key := r.next([]int{1})
		data, err := Tensor{n: graph.Cat(0, key[:])}.bytes("Perm")
		if err != nil {
			panic(err)
		}
		words := elementsOf[uint32](data)
		k0, k1 = words[0], words[1]
	} else {
		k0, k1 = r.host(2 * r.Count)
		r.Count++
	}
	buffer := allocate("Perm", n, Int32)
	order := elementsOf[int32](buffer)
	for i := range order {
		order[i] = int32(i)
	}
	for i := uint32(n); i > 1; i-- { // Fisher and Yates
		j := uint64(threefry(k0, k1, 0, i)) * uint64(i) >> 32
		order[i-1], order[j] = order[j], order[i-1]
	}
	return stored(Int32, []int{n}, buffer)
}

// Keys returns n keys, uint32 [n 2]: each row makes an independent RNG, by
// [KeyRNG], for a goroutine or an example of a batch.
func (r *RNG) Keys(n int) Tensor {
	s := r.drawn("Keys", []int{n, 2})
	return Tensor{n: randomBits(r.next(s), s, 0)}
}
