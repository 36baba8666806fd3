package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An RNG draws random tensors. Each draw uses the next key, a pure function of the seed
// and the number of draws before. An element is a pure function of the key and its
// position (Threefry, from Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", 2011, in JAX's form), so it is equal on every device, except for the last bits of
// Normal and TruncNormal, which compute elementary functions.
//
// Seed and Count are the whole state of an RNG made by [NewRNG]: RNG{Seed: s, Count: c}
// continues the sequence. An RNG is for one goroutine; [RNG.Keys] makes keys for others.
type RNG struct {
	Seed  uint64 // selects the sequence
	Count uint64 // number of keys used

	key   Tensor       `tensor:"-"` // in place of Seed, if valid
	draws *graph.Draws // not nil while a function is recorded
}

// NewRNG returns an RNG with a seed.
func NewRNG(seed uint64) *RNG { return &RNG{Seed: seed} }

// KeyRNG returns an RNG with a key, a uint32 tensor [2] such as a row of [RNG.Keys]. It
// cannot be stored in files.
func KeyRNG(key Tensor) *RNG {
	n := key.node("KeyRNG")
	if n.DType != ir.Uint32 || !slices.Equal(n.Shape, []int{2}) {
		fail("KeyRNG", "a key is a uint32 tensor [2]", n)
	}
	return &RNG{key: key}
}

// next returns the two words of the next key, each expanded to a shape.
func (r *RNG) next(s []int) [2]*graph.Node {
	count := 2 * r.Count
	r.Count++
	word := func(w uint32) *graph.Node { return graph.Scalar(ir.Uint32, ir.Number(w), s) }
	if !r.key.IsValid() {
		k0, k1 := r.hostKey(count)
		words := [2]*graph.Node{word(k0), word(k1)}
		if r.draws != nil {
			return r.draws.Add(words)
		}
		return words
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

// hostKey computes on the host the key that next would return for an RNG with a seed, so
// that the key is an argument of the program and not a part of it.
func (r *RNG) hostKey(count uint64) (k0, k1 uint32) {
	s0, s1 := uint32(r.Seed>>32), uint32(r.Seed)
	return simd.ThreefryWord(s0, s1, uint32(count>>32), uint32(count)),
		simd.ThreefryWord(s0, s1, uint32((count+1)>>32), uint32(count+1))
}

// HasKey reports whether an RNG was made by [KeyRNG].
func (internal) HasKey(_ graph.Token, r *RNG) bool { return r.key.IsValid() }

// Draws returns the record of an RNG's draws, nil if it keeps none.
func (internal) Draws(_ graph.Token, r *RNG) *graph.Draws { return r.draws }

// SetDraws has an RNG record its draws; nil ends that.
func (internal) SetDraws(_ graph.Token, r *RNG, d *graph.Draws) { r.draws = d }

// Draw returns the words of r's next n keys.
func (internal) Draw(_ graph.Token, r *RNG, n int) []ir.Number {
	var words []ir.Number
	for range n {
		k0, k1 := r.hostKey(2 * r.Count)
		words = append(words, ir.Number(k0), ir.Number(k1))
		r.Count++
	}
	return words
}

// randomBits returns a random word for each element of a shape. The words that are encrypted
// have the element's position: the lower half, and twice the upper half plus the stream.
func randomBits(key [2]*graph.Node, s []int, stream uint32) *graph.Node {
	if graph.Len(s) <= math.MaxInt32 {
		lo := graph.Reshape(position([]int{graph.Len(s)}, 0, ir.Uint32), s)
		return graph.Elementwise(ir.Threefry, key[0], key[1], graph.Const(ir.Uint32, ir.Number(stream), s), lo)
	}
	grid := gridOf(s)
	at := add(scaled(position(grid, 0, ir.Uint64), float64(grid[1])), position(grid, 1, ir.Uint64))
	upper := graph.Cast(graph.Binary(ir.Shr, at, graph.Const(ir.Uint64, 32, grid)), ir.Uint32)
	hi := shifted(scaled(upper, 2), float64(stream))
	return graph.Elementwise(ir.Threefry, key[0], key[1], graph.Reshape(hi, s), graph.Reshape(graph.Cast(at, ir.Uint32), s))
}

// check panics on behalf of op if r is nil.
func (r *RNG) check(op string) {
	if r == nil {
		fail(op, "the *RNG is nil: make one with NewRNG")
	}
}

// shapeOf checks and copies the shape of a draw.
func (r *RNG) shapeOf(op string, lengths []int) []int {
	r.check(op)
	s := append([]int{}, lengths...)
	checkShape(op, s)
	if n := graph.Len(s); n > math.MaxInt32 && max(gridOf(s)[0], gridOf(s)[1]) > math.MaxInt32 {
		fail(op, fmt.Sprintf("shape %v: positions are int32: draw numbers of a shape such as [%d 65536], and Reshape or Slice them", s, ir.CeilDiv(n, 1<<16)))
	}
	return s
}

// gridOf returns a matrix's shape that has the elements of another shape, more than an int32
// counts, in rows that an int32 counts, if they can be.
func gridOf(s []int) []int {
	inner := len(s) - 1
	for inner > 0 && graph.Len(s[inner-1:]) <= math.MaxInt32 {
		inner--
	}
	return []int{graph.Len(s[:inner]), graph.Len(s[inner:])}
}

// unit returns a number uniform in [0, 1): the upper 24 bits of a word.
func unit(word *graph.Node) *graph.Node {
	upper := graph.Binary(ir.Shr, word, graph.Const(ir.Uint32, 8, word.Shape))
	return scaled(graph.Cast(upper, ir.Float32), 0x1p-24)
}

// openUnit returns a number uniform in (0, 1): the upper 23 bits of a word, plus ½.
func openUnit(word *graph.Node) *graph.Node {
	upper := graph.Binary(ir.Shr, word, graph.Const(ir.Uint32, 9, word.Shape))
	return scaled(shifted(graph.Cast(upper, ir.Float32), 0.5), 0x1p-23)
}

// rareUnit returns a number uniform in (0, 1), as openUnit, but in steps of 2⁻³² below 2⁻⁸,
// which rare events need.
func rareUnit(word *graph.Node) *graph.Node {
	small := lt(word, graph.Const(ir.Uint32, 1<<24, word.Shape))
	fine := scaled(shifted(graph.Cast(word, ir.Float32), 0.5), 0x1p-32)
	return graph.Where(small, fine, openUnit(word))
}

// Uniform returns float32 numbers, uniform in [0, 1): multiples of 2⁻²⁴.
func (r *RNG) Uniform(lengths ...int) Tensor {
	s := r.shapeOf("Uniform", lengths)
	return Tensor{n: unit(randomBits(r.next(s), s, 0))}
}

// Normal returns float32 numbers of the standard normal distribution. As they are made of
// words of 32 bits, none is beyond ±5.8, which a true one is once in 10⁸ times.
func (r *RNG) Normal(lengths ...int) Tensor {
	s := r.shapeOf("Normal", lengths)
	key := r.next(s)
	// The Box-Muller transform: a radius and an angle.
	radius := graph.Unary(ir.Sqrt, scaled(log(openUnit(randomBits(key, s, 0))), -2))
	angle := scaled(shifted(unit(randomBits(key, s, 1)), -0.5), 2*math.Pi)
	return Tensor{n: mul(radius, graph.Unary(ir.Cos, angle))}
}

// TruncNormal returns float32 numbers of the standard normal distribution truncated to
// [-2, 2].
func (r *RNG) TruncNormal(lengths ...int) Tensor {
	s := r.shapeOf("TruncNormal", lengths)
	u := openUnit(randomBits(r.next(s), s, 0))
	edge := math.Erf(math.Sqrt2) // erf(±2/√2) = ±edge
	x := scaled(erfinv(shifted(scaled(u, 2*edge), -edge)), math.Sqrt2)
	two := fill(x, 2)
	return Tensor{n: graph.Binary(ir.Max, neg(two), graph.Binary(ir.Min, x, two))}
}

// erfinv returns the inverse of Erf for |x| < 0.99. The polynomial is from Giles,
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

// Ints returns int32 numbers in [0, n), n at least 1, each as likely as the others to a relative
// 2⁻¹² or less.
func (r *RNG) Ints(n int, lengths ...int) Tensor {
	if n < 1 || n > math.MaxInt32 {
		fail("Ints", fmt.Sprintf("no int32 lies in [0, %d)", n))
	}
	s := r.shapeOf("Ints", lengths)
	key := r.next(s)
	word := randomBits(key, s, 0)
	if n <= 1<<20 {
		bound := graph.Scalar(ir.Uint32, ir.Number(n), s)
		return Tensor{n: graph.Cast(graph.Binary(ir.Rem, word, bound), ir.Int32)}
	}
	// The upper half of 64 random bits times n; the remainder of 32 would prefer small numbers.
	times := func(word *graph.Node) *graph.Node { return scaled(graph.Cast(word, ir.Uint64), float64(n)) }
	upper := func(x *graph.Node) *graph.Node { return graph.Binary(ir.Shr, x, fill(x, 32)) }
	carry := upper(times(randomBits(key, s, 1)))
	return Tensor{n: graph.Cast(upper(add(times(word), carry)), ir.Int32)}
}

// Bernoulli returns bools of p's shape, each true with the probability in p, rounded to a
// multiple of 2⁻²³, or below 2⁻⁸ of 2⁻³². A p that is not from 0 to 1 is found when the
// result is computed: [Eval] and [Data] return the error.
func (r *RNG) Bernoulli(p Tensor) Tensor {
	x := p.floats("Bernoulli")
	s := r.shapeOf("Bernoulli", x.Shape)
	u := rareUnit(randomBits(r.next(s), s, 0))
	if x.DType.IsHalf() {
		x = graph.Cast(x, ir.Float32)
	}
	valid := eq(x, graph.Binary(ir.Max, graph.Binary(ir.Min, x, fill(x, 1)), fill(x, 0)))
	return Tensor{n: checked("Bernoulli", lt(graph.Cast(u, x.DType), x), valid, "p", "is no probability, from 0 to 1")}
}

// Categorical draws int32 positions along the last axis of p, which it drops, with the
// probabilities in p: positive numbers and zeros, whose sum need not be 1. A row with others,
// or of zeros alone, is found when the result is computed: [Eval] and [Data] return the error.
// Classes less than 2⁻³³ times as likely as the others are drawn too rarely.
func (r *RNG) Categorical(p Tensor) Tensor {
	x := p.floats("Categorical")
	if len(x.Shape) == 0 {
		fail("Categorical", "a scalar has no axis of probabilities: Unsqueeze adds one", x)
	}
	// The Gumbel-max trick: ArgMax(log p + g) is a draw from p if g has the Gumbel
	// distribution, which is -log of an exponential one. That is -log(1-u), for u near 0 the
	// most accurate.
	s := r.shapeOf("Categorical", x.Shape)
	u := rareUnit(not(randomBits(r.next(s), s, 0)))
	gumbel := neg(log(neg(graph.Unary(ir.Log1p, neg(u)))))
	if x.DType.IsHalf() {
		x = graph.Cast(x, ir.Float32)
	}
	l := log(x) // NaN for a weight that is negative or NaN
	at := argMax("Categorical", add(graph.Cast(l, ir.Float32), gumbel), -1, false)
	last := len(s) - 1
	greatest := drop(graph.Reduce(ir.ReduceMax, l, []int{last}), last)
	return Tensor{n: checked("Categorical", at, lt(abs(greatest), fill(greatest, math.Inf(1))),
		"the row", "has no distribution: want finite numbers of at least 0, and one above")}
}

// Perm returns the int32 numbers 0 to n-1 in random order. With an RNG made by [KeyRNG]
// it evaluates the key, which the other draws do not.
func (r *RNG) Perm(n int) Tensor {
	r.check("Perm")
	checkCount("Perm", n)
	var k0, k1 uint32
	if r.key.IsValid() {
		if of, ended := r.key.n.PlaceholdersOf(); of != "" && !ended {
			fail("Perm", "inside of "+of+" a key has no value, which Perm needs: make permutations outside and pass them in", r.key.n)
		}
		key := r.next([]int{1})
		data, err := Tensor{n: graph.Cat(0, key[:])}.bytes("Perm")
		if err != nil {
			panic(err)
		}
		words := elementsOf[uint32](data)
		k0, k1 = words[0], words[1]
	} else if r.draws != nil {
		fail("Perm", "inside of grad.Jit an RNG has no value, which Perm needs: make permutations outside and pass them in")
	} else {
		k0, k1 = r.hostKey(2 * r.Count)
		r.Count++
	}
	buffer := allocate("Perm", n, Int32)
	order := elementsOf[int32](buffer)
	for i := range order {
		order[i] = int32(i)
	}
	for i := uint32(n); i > 1; i-- { // Fisher-Yates
		j := uint64(simd.ThreefryWord(k0, k1, 0, i)) * uint64(i) >> 32
		order[i-1], order[j] = order[j], order[i-1]
	}
	return newStored(Int32, []int{n}, buffer)
}

// Keys returns n keys, uint32 [n 2]. [KeyRNG] makes an independent RNG of each row, for a
// goroutine or for an example of a batch.
func (r *RNG) Keys(n int) Tensor {
	s := r.shapeOf("Keys", []int{n, 2})
	return Tensor{n: randomBits(r.next(s), s, 0)}
}
