package schedule

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A radixSort sorts rows by the digits of their keys, the least first. For each digit
// one pass counts those of every block, one adds up what comes before each block, and
// one moves the pairs: to where its digit begins, after those of equal digit before it.
// A block is sorted in the memory of a workgroup first, so that neighbouring threads write
// neighbouring pairs. A thread has some neighbours, whose digits are the nibbles of a word.
type radixSort struct {
	*sort
	threads int
	blocks  int // of a row
	counts  int // scratch: of each row, digit and block
	from    candidates
	shift   int // of the digit in a key
}

const (
	radixDigits = 16 // values of a digit
	radixItems  = 8  // neighbours of a thread
	tallyWords  = radixDigits / 4
	nibbles     = 0x11111111
)

// radixThreads is the number of threads of a workgroup: each has its tallies, a part and its
// items in shared memory, which has two numbers for each digit besides.
func (t *Target) radixThreads() int {
	return min(t.threads(), floorPow2((t.SharedBytes-4*2*radixDigits)/(4*(tallyWords+1+radixItems))))
}

func (s *sort) radix() {
	r := &radixSort{sort: s, threads: s.t.radixThreads(), from: operand}
	block := r.threads * radixItems
	r.blocks = loopnest.CeilDiv(s.cols, block)
	n := r.blocks * radixDigits
	r.counts = s.scratch(s.rows * n)
	var spare []candidates
	for r.shift = 0; r.shift < s.bits(); r.shift += 4 {
		to := operand
		if r.shift+4 < s.bits() {
			if len(spare) == 0 {
				spare = append(spare, candidates{s.scratch(s.rows * s.cols), s.scratch(s.rows * s.cols)})
			}
			to, spare = spare[0], spare[1:]
		}
		r.count()
		s.scanWords(r.counts, n, s.rows, ir.Add, ir.Uint32)
		r.move(to)
		if r.from != operand {
			spare = append(spare, r.from)
		}
		r.from = to
	}
}

// A radixPass is a pass over blocks under construction.
type radixPass struct {
	*radixSort
	p          *pass
	row, block *shader.Expr
	key        value
	at         value // places in the row
	digit      value
	word       *shader.Expr   // the digits
	tallies    *shader.Shared // of each thread, the number of each digit: a byte
	parts      *shader.Shared // for each digit, its number in each 16 threads
}

// pass adds a pass with a workgroup for each block, which counts its digits.
func (r *radixSort) pass(build func(w *radixPass)) {
	r.compiler.pass(r.threads, func(p *pass) {
		root := p.root
		p.groups = r.rows * r.blocks
		job := p.job()
		w := &radixPass{radixSort: r, p: p, row: root.Let("row", job.Div(r.blocks)), block: root.Let("block", job.Rem(r.blocks))}
		root.enter(span{axes: r.parallel, base: w.row})
		w.load(root.Let("first", w.block.Mul(r.threads).Add(shader.ThreadID).Mul(radixItems)))
		w.tallies, w.parts = p.share(shader.U32, tallyWords*r.threads), p.share(shader.U32, r.threads)
		word := u32(0)
		tally := make([]*shader.Expr, tallyWords)
		for l, key := range w.key {
			d := key.Shr(r.shift).And(radixDigits - 1)
			if r.cols%(r.threads*radixItems) != 0 { // past the end: after all others
				d = w.at[l].Lt(r.cols).If(d, u32(radixDigits-1))
			}
			w.digit = append(w.digit, root.Let(fmt.Sprintf("d%d", l), d))
			word = word.Or(w.digit[l].Shl(4 * l))
			one := root.Let(fmt.Sprintf("one%d", l), u32(1).Shl(w.digit[l].And(3).Mul(8)))
			for q := range tally {
				n := w.digit[l].Shr(2).Eq(q).If(one, u32(0))
				if l > 0 {
					n = tally[q].Add(n)
				}
				tally[q] = n
			}
		}
		w.word = root.Let("word", word)
		for q, n := range tally {
			root.Put(w.tallies, shader.ThreadID.Plus(q*r.threads), n)
		}
		root.Barrier()
		part := r.threads / radixDigits // groups of 16 threads
		digit := root.Let("digit", shader.ThreadID.Div(part))
		first := root.Let("tally", digit.Div(4).Mul(r.threads).Add(shader.ThreadID.Rem(part).Mul(16)))
		sum := root.Var("sum", u32(0))
		loop, i := root.loop("i", u32(0), u32(16), 1)
		loop.Set(sum, sum.Ref().Add(byteOf(w.tallies.At(first.Add(i)), digit)))
		loop.end()
		root.Put(w.parts, shader.ThreadID, sum.Ref())
		root.Barrier()
		build(w)
	})
}

// byteOf is the byte of a word of tallies that counts a digit.
func byteOf(word, digit *shader.Expr) *shader.Expr {
	return word.Shr(digit.And(3).Mul(8)).And(255)
}

// load reads a thread's keys, from a place of the row on.
func (w *radixPass) load(first *shader.Expr) {
	root := w.p.root
	for l := range radixItems {
		w.at = append(w.at, first.Plus(l))
	}
	if w.from == operand {
		in := root.beside("")
		span := span{axes: w.reduced, base: first, step: count(radixItems), fours: w.fours(w.reduced)}
		if w.cols%(w.threads*radixItems) != 0 {
			span.clamp = u32(w.cols)
		}
		in.enterValid(span)
		x := in.value(w.sort.operand)
		for l := range radixItems {
			w.key = append(w.key, root.Let(fmt.Sprintf("key%d", l), w.sort.key(x.lane(l))))
		}
		return
	}
	w.key = w.scratch("key", w.from.key)
}

// scratch reads a word of each of the thread's pairs.
func (w *radixPass) scratch(name string, scratch int) (list value) {
	root := w.p.root
	for l, at := range w.at {
		x := root.Var(fmt.Sprintf("%s%d", name, l), none)
		root.under(w.within(at), func(in *scope) {
			place := w.row.Mul(w.cols).Add(at)
			in.Set(x, in.loadAt(w.p.words(scratch, shader.U32, false), place, fmt.Sprintf("%sWord%d", name, l), false).Ref())
		})
		list = append(list, x.Ref())
	}
	return list
}

// within is whether a place is in the row, nil if all are.
func (w *radixPass) within(at *shader.Expr) *shader.Expr {
	if w.cols%(w.threads*radixItems) == 0 {
		return nil
	}
	return at.Lt(w.cols)
}

// same16 marks the nibbles of a word that are equal to a digit by a bit each.
func same16(word, digit *shader.Expr) *shader.Expr {
	x := word.Xor(digit.Mul(nibbles))
	x = x.Or(x.Shr(1))
	return x.Or(x.Shr(2)).Not().And(nibbles)
}

// bitsOf counts the marks of same16.
func bitsOf(x *shader.Expr) *shader.Expr { return x.Mul(nibbles).Shr(28) }

// count adds the pass that counts the digits of each block.
func (r *radixSort) count() {
	r.pass(func(w *radixPass) {
		part := r.threads / radixDigits
		in := w.p.root.when(shader.ThreadID.Lt(radixDigits))
		sum := in.Var("total", u32(0))
		loop, i := in.loop("i", u32(0), u32(part), 1)
		loop.Set(sum, sum.Ref().Add(w.parts.At(shader.ThreadID.Mul(part).Add(i))))
		loop.end()
		to := w.row.Mul(radixDigits).Add(shader.ThreadID).Mul(r.blocks).Add(w.block)
		in.storeAt(w.p.words(r.counts, shader.U32, true), to, sum.Ref())
		in.end()
	})
}

// move adds the pass that moves pairs, or at last stores the positions.
func (r *radixSort) move(to candidates) {
	r.pass(func(w *radixPass) {
		p, root := w.p, w.p.root
		begins, shifts := p.share(shader.U32, radixDigits), p.share(shader.U32, radixDigits)
		w.begin(begins, shifts)
		place := w.places(begins)
		positions := w.at
		if r.from != operand {
			positions = w.scratch("position", r.from.at)
		}
		staged := p.share(shader.U32, r.threads*radixItems)
		inside := func(i *shader.Expr) *shader.Expr { return w.within(w.block.Mul(r.threads * radixItems).Add(i)) }
		dest := make(value, radixItems)
		w.stage("key", staged, place, w.key, func(l int, i, key *shader.Expr) {
			d := key.Shr(r.shift).And(radixDigits - 1)
			dest[l] = root.Let(fmt.Sprintf("to%d", l), shifts.At(d).Add(i))
			if to != operand {
				root.under(inside(i), func(sc *scope) {
					sc.storeAt(p.words(to.key, shader.U32, true), w.row.Mul(r.cols).Add(dest[l]), key)
				})
			}
		})
		root.Barrier()
		w.stage("at", staged, place, positions, func(l int, i, position *shader.Expr) {
			if to != operand {
				root.under(inside(i), func(sc *scope) {
					sc.storeAt(p.words(to.at, shader.U32, true), w.row.Mul(r.cols).Add(dest[l]), position)
				})
				return
			}
			cond := inside(i)
			if r.places < r.cols {
				cond = all(cond, dest[l].Lt(r.places))
			}
			in := root.when(cond)
			r.put(in, dest[l], position)
			in.end()
		})
	})
}

// begin sets where each digit begins in the sorted block, and what to add to a place there
// for one in the row. In w.parts it sets the numbers before each 16 threads.
func (w *radixPass) begin(begins, shifts *shader.Shared) {
	p, root := w.p, w.p.root
	part := w.threads / radixDigits
	sums := root.when(shader.ThreadID.Lt(radixDigits))
	sum := sums.Var("before", u32(0))
	loop, i := sums.loop("i", u32(0), u32(part), 1)
	at := loop.Let("at", shader.ThreadID.Mul(part).Add(i))
	n := loop.Let("n", w.parts.At(at))
	loop.Put(w.parts, at, sum.Ref())
	loop.Set(sum, sum.Ref().Add(n))
	loop.end()
	sums.Put(shifts, shader.ThreadID, sum.Ref())
	sums.end()
	root.Barrier()

	sums = root.when(shader.ThreadID.Lt(radixDigits))
	begin := sums.Var("begin", u32(0))
	loop, i = sums.loop("i", u32(0), shader.ThreadID, 1)
	loop.Set(begin, begin.Ref().Add(shifts.At(i)))
	loop.end()
	sums.Put(begins, shader.ThreadID, begin.Ref())
	sums.end()
	root.Barrier()

	sums = root.when(shader.ThreadID.Lt(radixDigits))
	index := sums.Let("index", shader.ThreadID.Mul(w.blocks).Add(w.block))
	shift := sums.Var("shift", u32(0))
	earlier := sums.when(index.Gt(0))
	before := w.row.Mul(radixDigits * w.blocks).Add(index).Sub(1)
	earlier.Set(shift, earlier.loadAt(p.words(w.counts, shader.U32, false), before, "c", false).Ref())
	earlier.end()
	sums.Put(shifts, shader.ThreadID, shift.Ref().Sub(begins.At(shader.ThreadID)))
	sums.end()
}

// places are those of the thread's pairs in the sorted block.
func (w *radixPass) places(begins *shader.Shared) (list value) {
	root := w.p.root
	part := w.threads / radixDigits
	lot := root.Let("lot", shader.ThreadID.Div(16))
	tally := make([]*shader.Var, tallyWords) // of the threads of the lot before this one
	for q := range tally {
		tally[q] = root.Var(fmt.Sprintf("tally%d", q), u32(0))
	}
	loop, i := root.loop("i", lot.Mul(16), shader.ThreadID, 1)
	for q, v := range tally {
		loop.Set(v, v.Ref().Add(w.tallies.At(i.Plus(q*w.threads))))
	}
	loop.end()
	for l, d := range w.digit {
		before := tally[0].Ref()
		for q := 1; q < tallyWords; q++ {
			before = d.Shr(2).Eq(q).If(tally[q].Ref(), before)
		}
		mine := same16(w.word, d).And(u32(1<<(4*l) - 1))
		place := begins.At(d).Add(w.parts.At(d.Mul(part).Add(lot))).Add(byteOf(before, d)).Add(bitsOf(mine))
		list = append(list, root.Let(fmt.Sprintf("p%d", l), place))
	}
	return list
}

// stage puts a word of each of the thread's pairs in its place in the sorted block, and gives
// to use those at the places that are as many threads apart.
func (w *radixPass) stage(name string, staged *shader.Shared, place, words value, use func(l int, i, word *shader.Expr)) {
	root := w.p.root
	for l, x := range words {
		root.Put(staged, place[l], x)
	}
	root.Barrier()
	for l := range radixItems {
		i := shader.ThreadID.Plus(l * w.threads)
		use(l, i, root.Let(fmt.Sprintf("%sSorted%d", name, l), staged.At(i)))
	}
}
