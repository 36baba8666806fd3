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
// A thread has some neighbours, whose digits are the nibbles of a word.
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
	nibbles     = 0x11111111
)

func (s *sort) radix() {
	r := &radixSort{sort: s, threads: s.t.threads(), from: operand}
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
	words      *shader.Shared // digits of each thread
	parts      *shader.Shared // for each digit, its number in the words of each 16 threads
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
		w.words, w.parts = p.share(shader.U32, r.threads), p.share(shader.U32, r.threads)
		word := u32(0)
		for l, key := range w.key {
			d := key.Shr(r.shift).And(radixDigits - 1)
			if r.cols%(r.threads*radixItems) != 0 { // past the end: after all others
				d = w.at[l].Lt(r.cols).If(d, u32(radixDigits-1))
			}
			w.digit = append(w.digit, root.Let(fmt.Sprintf("d%d", l), d))
			word = word.Or(w.digit[l].Shl(4 * l))
		}
		root.Put(w.words, shader.ThreadID, word)
		root.Barrier()
		part := r.threads / radixDigits // groups of 16 threads
		digit := root.Let("digit", shader.ThreadID.Div(part))
		sum := root.Var("sum", u32(0))
		loop, i := root.loop("i", u32(0), u32(16), 1)
		loop.Set(sum, sum.Ref().Add(equals(w.words.At(shader.ThreadID.Rem(part).Mul(16).Add(i)), digit)))
		loop.end()
		root.Put(w.parts, shader.ThreadID, sum.Ref())
		root.Barrier()
		build(w)
	})
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

// equals counts the nibbles of a word that are equal to a digit.
func equals(word, digit *shader.Expr) *shader.Expr { return bitsOf(same16(word, digit)) }

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
		part := r.threads / radixDigits
		// The number before each 16 threads, and before the row's block.
		counts := p.words(r.counts, shader.U32, false)
		sums := root.when(shader.ThreadID.Lt(radixDigits))
		sum := sums.Var("before", u32(0))
		index := sums.Let("index", shader.ThreadID.Mul(r.blocks).Add(w.block))
		earlier := sums.when(index.Gt(0))
		earlier.Set(sum, earlier.loadAt(counts, w.row.Mul(radixDigits*r.blocks).Add(index).Sub(1), "c", false).Ref())
		earlier.end()
		loop, i := sums.loop("i", u32(0), u32(part), 1)
		at := loop.Let("at", shader.ThreadID.Mul(part).Add(i))
		n := loop.Let("n", w.parts.At(at))
		loop.Put(w.parts, at, sum.Ref())
		loop.Set(sum, sum.Ref().Add(n))
		loop.end()
		sums.end()
		root.Barrier()

		lot := root.Let("lot", shader.ThreadID.Div(16))
		place := make([]*shader.Var, radixItems)
		for l, d := range w.digit {
			place[l] = root.Var(fmt.Sprintf("p%d", l), w.parts.At(d.Mul(part).Add(lot)))
		}
		loop, i = root.loop("i", lot.Mul(16), shader.ThreadID, 1)
		word := loop.Let("word", w.words.At(i))
		for l, d := range w.digit {
			loop.Set(place[l], place[l].Ref().Add(equals(word, d)))
		}
		loop.end()
		own := root.Let("own", w.words.At(shader.ThreadID))
		positions := w.at
		if r.from != operand {
			positions = w.scratch("position", r.from.at)
		}
		for l, d := range w.digit {
			mine := same16(own, d).And(u32(1<<(4*l) - 1))
			dest := root.Let(fmt.Sprintf("to%d", l), place[l].Ref().Add(bitsOf(mine)))
			inside := w.within(w.at[l])
			if to == operand {
				if r.places < r.cols {
					inside = all(inside, dest.Lt(r.places))
				}
				in := root.when(inside)
				r.put(in, dest, positions[l])
				in.end()
				continue
			}
			root.under(inside, func(sc *scope) {
				at := w.row.Mul(r.cols).Add(dest)
				sc.storeAt(p.words(to.key, shader.U32, true), at, w.key[l])
				sc.storeAt(p.words(to.at, shader.U32, true), at, positions[l])
			})
		}
	})
}
