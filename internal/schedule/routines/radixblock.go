package routines

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
)

// A blockSort is the pass of a radixSort that sorts blocks. A thread has neighbouring
// pairs, and keeps their half digits as the nibbles of a word.
type blockSort struct {
	*radixPass
	key, at build.Value // of the thread's pairs

	tallies *shader.Shared // of each thread, the number of each half digit: a byte
	parts   *shader.Shared // for each half digit, its number in each 16 threads
	totals  *shader.Shared // of the half digits
	starts  *shader.Shared // where they begin in the block
	staged  *shader.Shared // a key or a position of each pair, see slot
}

// sortBlocks adds the pass that sorts each block and counts its digits.
func (r *radixSort) sortBlocks(to candidates) {
	r.pass(func(w *radixPass) {
		share := func(n int) *shader.Shared { return w.p.Share(shader.U32, n) }
		b := &blockSort{
			radixPass: w, tallies: share(tallyWords * r.threads), parts: share(r.threads),
			totals: share(halfDigits), starts: share(halfDigits), staged: w.p.Share(r.keyType(), r.blockLen()+r.blockLen()/32),
		}
		heads, ends := share(radixDigits), share(radixDigits) // of the digits in the block
		w.digits(func(sc *build.Scope, d *shader.Expr) {
			sc.Put(heads, d, build.U32(0))
			sc.Put(ends, d, build.U32(0))
		})
		b.load()
		place := b.places("low", r.shift)
		if r.shift+halfBits < r.bits() {
			b.key = b.exchange("key", place, b.key)
			b.at = b.exchange("at", place, b.at)
			place = b.places("high", r.shift+halfBits)
		}
		b.stage(place, b.key)
		b.store("key", w.keys(to.key, true), func(sc *build.Scope, i, at, key *shader.Expr) {
			d := sc.Let("digit", r.digit(key))
			differs := func(i *shader.Expr) *shader.Expr { return r.digit(b.staged.At(slot(i))).Ne(d) }
			head := sc.When(i.Eq(0).Or(differs(i.Max(1).Sub(1))))
			head.Put(heads, d, i)
			head.End()
			next := i.Add(1)
			end := sc.When(next.Eq(r.blockLen()).Or(at.Add(1).Eq(r.cols)).Or(differs(next.Min(r.blockLen() - 1))))
			end.Put(ends, d, next)
			end.End()
		})
		w.p.Root.Barrier()
		b.stage(place, b.at)
		b.store("at", w.words(to.at, true), func(*build.Scope, *shader.Expr, *shader.Expr, *shader.Expr) {})
		w.digits(func(sc *build.Scope, d *shader.Expr) {
			sc.StoreAt(w.words(r.counts, true), w.countOf(d), ends.At(d).Sub(heads.At(d)))
			sc.StoreAt(w.words(r.begins, true), w.beginOf(d), heads.At(d))
		})
	})
}

// load reads a thread's pairs. Pairs past the end of the row come after all others.
func (b *blockSort) load() {
	root := b.p.Root
	mine := root.Let("mine", b.first.Add(shader.ThreadID.Mul(radixItems)))
	for l := range radixItems {
		b.at = append(b.at, mine.Plus(l))
	}
	if b.from != operand {
		b.key, b.at = b.read("key", b.keys(b.from.key, false)), b.read("position", b.words(b.from.at, false))
		return
	}
	in := root.Beside("")
	whole := b.within(mine) == nil
	span := build.Span{Axes: b.reduced, Base: mine, Step: build.Lanes(radixItems), Fours: b.Fours(b.reduced)}
	if !whole {
		span.Clamp = build.U32(b.cols)
	}
	in.EnterValid(span)
	x := in.Value(b.operand)
	for l, at := range b.at {
		key := b.sort.key(x.Lane(l))
		if !whole {
			key = at.Lt(b.cols).If(key, none(key.Type))
		}
		b.key = append(b.key, root.Let(fmt.Sprintf("key%d", l), key))
	}
}

// read reads a buffer's element for each of the thread's pairs, four at a time where rows
// allow.
func (b *blockSort) read(name string, from *shader.Buffer) (list build.Value) {
	root := b.p.Root
	group := 1
	if b.cols%4 == 0 {
		group = 4
	}
	for l := 0; l < radixItems; l += group {
		load := &shader.Load{Buffer: from, Index: b.Cell(b.rows, b.cols, b.row, b.at[l])}
		for k := range group {
			x := root.Var(fmt.Sprintf("%s%d", name, l+k), none(shader.Register(from.Type)))
			load.Dst = append(load.Dst, x)
			list = append(list, x.Ref())
		}
		root.Under(b.within(b.at[l]), func(in *build.Scope) { in.Do(load) })
	}
	return list
}

// places are the places of the thread's pairs in the block after it is sorted by the half
// digit at shift.
func (b *blockSort) places(name string, shift int) (list build.Value) {
	root := b.p.Root
	let := func(what string, x *shader.Expr) *shader.Expr { return root.Let(name+what, x) }
	part := b.threads / halfDigits // groups of 16 threads
	lot := let("Lot", shader.ThreadID.Div(16))

	halves := make(build.Value, radixItems)
	word := build.U32(0)
	tally := make(build.Value, tallyWords)
	for l, key := range b.key {
		h := let(fmt.Sprintf("Half%d", l), key.Shr(shift).And(halfDigits-1).Convert(shader.U32))
		one := let(fmt.Sprintf("One%d", l), build.U32(1).Shl(h.And(3).Mul(8)))
		for q := range tally {
			n := h.Shr(2).Eq(q).If(one, build.U32(0))
			if l > 0 {
				n = tally[q].Add(n)
			}
			tally[q] = n
		}
		halves[l], word = h, word.Or(h.Shl(4*l))
	}
	word = let("Word", word)
	for q, n := range tally {
		root.Put(b.tallies, shader.ThreadID.Plus(q*b.threads), n)
	}
	root.Barrier()

	half := let("Half", shader.ThreadID.Div(part))
	first := let("First", half.Div(4).Mul(b.threads).Add(shader.ThreadID.Rem(part).Mul(16)))
	b.add(root, name+"Part", build.U32(0), build.U32(16), b.parts, func(i *shader.Expr) *shader.Expr {
		return byteOf(b.tallies.At(first.Add(i)), half)
	})
	root.Barrier()
	b.begin(name, part)

	before := make([]*shader.Var, tallyWords) // counts of the threads before this one in its 16
	for q := range before {
		before[q] = root.Var(fmt.Sprintf("%sBefore%d", name, q), build.U32(0))
	}
	loop, i := root.Loop("i", lot.Mul(16), shader.ThreadID, 1)
	for q, v := range before {
		loop.Set(v, v.Ref().Add(b.tallies.At(i.Plus(q*b.threads))))
	}
	loop.End()
	for l, h := range halves {
		n := before[0].Ref()
		for q := 1; q < tallyWords; q++ {
			n = h.Shr(2).Eq(q).If(before[q].Ref(), n)
		}
		mine := same16(word, h).And(build.U32(1<<(4*l) - 1))
		place := b.starts.At(h).Add(b.parts.At(h.Mul(part).Add(lot))).Add(byteOf(n, h)).Add(bitsOf(mine))
		list = append(list, let(fmt.Sprintf("Place%d", l), place))
	}
	return list
}

// begin computes where each half digit begins in the block. It replaces the counts in
// b.parts by the sums of the counts before each 16 threads.
func (b *blockSort) begin(name string, part int) {
	root := b.p.Root
	sums := root.When(shader.ThreadID.Lt(halfDigits))
	sum := sums.Var("total", build.U32(0))
	loop, i := sums.Loop("i", build.U32(0), build.U32(part), 1)
	at := loop.Let("at", shader.ThreadID.Mul(part).Add(i))
	n := loop.Let("n", b.parts.At(at))
	loop.Put(b.parts, at, sum.Ref())
	loop.Set(sum, sum.Ref().Add(n))
	loop.End()
	sums.Put(b.totals, shader.ThreadID, sum.Ref())
	sums.End()
	root.Barrier()

	sums = root.When(shader.ThreadID.Lt(halfDigits))
	b.add(sums, "start", build.U32(0), shader.ThreadID, b.starts, b.totals.At)
	sums.End()
	root.Barrier()
}

// add sets the thread's element of a shared array to the sum of x from first to limit.
func (b *blockSort) add(sc *build.Scope, name string, first, limit *shader.Expr, to *shader.Shared, x func(i *shader.Expr) *shader.Expr) {
	sum := sc.Var(name, build.U32(0))
	loop, i := sc.Loop("i", first, limit, 1)
	loop.Set(sum, sum.Ref().Add(x(i)))
	loop.End()
	sc.Put(to, shader.ThreadID, sum.Ref())
}

// exchange moves the keys or the positions of pairs to the threads that have their places in
// the sorted block.
func (b *blockSort) exchange(name string, place, own build.Value) (list build.Value) {
	root := b.p.Root
	b.stage(place, own)
	for l, x := range own {
		next := b.staged.At(slot(shader.ThreadID.Mul(radixItems).Add(l))).Convert(x.Type)
		list = append(list, root.Let(fmt.Sprintf("%sNext%d", name, l), next))
	}
	root.Barrier()
	return list
}

// stage puts the keys or the positions of the thread's pairs at their places.
func (b *blockSort) stage(place, own build.Value) {
	for l, x := range own {
		b.p.Root.Put(b.staged, slot(place[l]), x.Convert(b.staged.Type))
	}
	b.p.Root.Barrier()
}

// slot is the element of b.staged for place i. One element in 33 is unused, so that threads
// that each read neighbouring ones access different banks of memory.
func slot(i *shader.Expr) *shader.Expr { return i.Add(i.Shr(5)) }

// store writes the staged elements of the row, and calls use with each.
func (b *blockSort) store(name string, to *shader.Buffer, use func(sc *build.Scope, i, at, x *shader.Expr)) {
	b.apart(func(l int, i, at *shader.Expr) {
		b.p.Root.Under(b.within(at), func(sc *build.Scope) {
			in := sc.When(nil)
			x := in.Let(fmt.Sprintf("%sWord%d", name, l), b.staged.At(slot(i)).Convert(shader.Register(to.Type)))
			in.StoreAt(to, b.Cell(b.rows, b.cols, b.row, at), x)
			use(in, i, at, x)
			in.End()
		})
	})
}

// byteOf is the byte of a word of tallies that counts a half digit.
func byteOf(word, half *shader.Expr) *shader.Expr {
	return word.Shr(half.And(3).Mul(8)).And(255)
}

// same16 marks the nibbles of a word that are equal to a half digit by a bit each.
func same16(word, half *shader.Expr) *shader.Expr {
	x := word.Xor(half.Mul(nibbles))
	x = x.Or(x.Shr(1))
	return x.Or(x.Shr(2)).Not().And(nibbles)
}

// bitsOf counts the marks of same16.
func bitsOf(x *shader.Expr) *shader.Expr { return x.Mul(nibbles).Shr(28) }
