package routines

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A radixSort sorts rows by the digits of their keys, the least significant first. Each
// digit takes three passes. The first sorts every block in the memory of a workgroup, by
// one half of the digit and then by the other, and counts its digits. The second adds up
// the counts that come before each block. The third moves the pairs to the place where
// their digit begins, after earlier pairs of equal digit. Neighbouring pairs mostly stay
// neighbours, and memory is fast at such moves.
type radixSort struct {
	*sort
	threads int
	blocks  int // of a row
	counts  int // scratch: of each row, digit and block; then their sums
	begins  int // scratch: where each digit begins, of each row and block
	from    candidates
	shift   int // of the digit in a key
}

const (
	radixBits   = 8 // of a digit
	radixDigits = 1 << radixBits
	halfBits    = radixBits / 2
	halfDigits  = 1 << halfBits // values of a half: a nibble
	radixItems  = 8             // neighbours of a thread, whose nibbles fill a word
	tallyWords  = halfDigits / 4
	nibbles     = 0x11111111
)

// radixThreads is the number of threads of a workgroup. Each has its tallies, a part and its
// items in shared memory, besides two numbers for each digit and for each half.
func (s *sort) radixThreads() int {
	numbers := 2 * (radixDigits + halfDigits)
	words := tallyWords + 1 + (radixItems+1)*build.WordsOf(s.keyType())
	return min(s.Target.Threads(), build.FloorPow2((s.Target.SharedBytes/4-numbers)/words))
}

func (s *sort) radix() {
	r := &radixSort{sort: s, threads: s.radixThreads(), from: operand}
	r.blocks = ir.CeilDiv(s.cols, r.blockLen())
	counts := s.rows * radixDigits * r.blocks
	r.counts, r.begins = s.Scratch(counts, shader.U32), s.Scratch(counts, shader.U32)
	pairs := func() candidates { return s.candidates(s.rows * s.cols) }
	sorted, moved := pairs(), operand
	for r.shift = 0; r.shift < s.bits(); r.shift += radixBits {
		r.sortBlocks(sorted)
		scanWords(s.Builder, r.counts, radixDigits*r.blocks, s.rows, ir.Add, ir.Uint32)
		if r.shift+radixBits >= s.bits() {
			r.move(sorted, operand)
			return
		}
		if moved == operand {
			moved = pairs()
		}
		r.move(sorted, moved)
		r.from = moved
	}
}

// blockLen is the number of pairs of a whole block.
func (r *radixSort) blockLen() int { return r.threads * radixItems }

// digit is the current digit of a key.
func (r *radixSort) digit(key *shader.Expr) *shader.Expr {
	return key.Shr(r.shift).And(radixDigits - 1).Convert(shader.U32)
}

// A radixPass is a pass over blocks under construction.
type radixPass struct {
	*radixSort
	p          *build.Pass
	row, block *shader.Expr
	first      *shader.Expr // place in the row of the block's first pair
}

// pass adds a pass with a workgroup for each block.
func (r *radixSort) pass(body func(w *radixPass)) {
	r.Builder.AddPass(r.threads, func(p *build.Pass) {
		p.Workgroups = r.rows * r.blocks
		root, job := p.Root, p.Job()
		w := &radixPass{radixSort: r, p: p, row: root.Let("row", job.Div(r.blocks)), block: root.Let("block", job.Rem(r.blocks))}
		w.first = root.Let("first", w.block.Mul(r.blockLen()))
		root.Enter(build.Span{Axes: r.parallel, Base: w.row})
		body(w)
	})
}

// within is the condition that a place is in the row, nil if rows consist of whole blocks.
func (w *radixPass) within(at *shader.Expr) *shader.Expr {
	if w.cols%w.blockLen() == 0 {
		return nil
	}
	return at.Lt(w.cols)
}

// words is a scratch buffer of words, and keys is one of keys.
func (w *radixPass) words(scratch int, write bool) *shader.Buffer {
	return w.p.Words(scratch, shader.U32, write)
}

func (w *radixPass) keys(scratch int, write bool) *shader.Buffer {
	return w.p.Words(scratch, w.keyType(), write)
}

// apart calls use with the places of the thread's pairs, i in the block and at in the row.
// Neighbouring threads have neighbouring pairs.
func (w *radixPass) apart(use func(l int, i, at *shader.Expr)) {
	for l := range radixItems {
		i := shader.ThreadID.Plus(l * w.threads)
		use(l, i, w.first.Add(i))
	}
}

// digits calls use for code that runs once for each digit d, spread over the threads.
func (w *radixPass) digits(use func(sc *build.Scope, d *shader.Expr)) {
	loop, d := w.p.Root.Loop("d", shader.ThreadID, build.U32(radixDigits), w.threads)
	use(loop, d)
	loop.End()
}

// countOf is the place of a digit among the counts.
func (w *radixPass) countOf(d *shader.Expr) *shader.Expr {
	return w.row.Mul(radixDigits * w.blocks).Add(d.Mul(w.blocks)).Add(w.block)
}

// beginOf is the place of a digit in begins.
func (w *radixPass) beginOf(d *shader.Expr) *shader.Expr {
	return w.row.Mul(w.blocks).Add(w.block).Mul(radixDigits).Add(d)
}

// move adds the pass that moves pairs or, for the last digit, stores the positions.
func (r *radixSort) move(from, to candidates) {
	r.pass(func(w *radixPass) {
		p, root := w.p, w.p.Root
		shifts := p.Share(shader.U32, radixDigits) // from a place in the block to one in the row
		w.digits(func(sc *build.Scope, d *shader.Expr) {
			before := sc.Var("before", build.U32(0))
			earlier := sc.When(d.Add(w.block).Gt(0))
			earlier.Set(before, earlier.LoadAt(w.words(r.counts, false), w.countOf(d).Sub(1), "count", false).Ref())
			earlier.End()
			begin := sc.LoadAt(w.words(r.begins, false), w.beginOf(d), "begin", false)
			sc.Put(shifts, d, before.Ref().Sub(begin.Ref()))
		})
		root.Barrier()
		w.apart(func(l int, i, at *shader.Expr) {
			root.Under(w.within(at), func(sc *build.Scope) {
				read := func(name string, b *shader.Buffer) *shader.Expr {
					return sc.LoadAt(b, r.Cell(r.rows, r.cols, w.row, at), fmt.Sprintf("%s%d", name, l), false).Ref()
				}
				key, position := read("key", w.keys(from.key, false)), read("position", w.words(from.at, false))
				place := sc.Let(fmt.Sprintf("to%d", l), shifts.At(r.digit(key)).Add(i))
				if to != operand {
					sc.StoreAt(w.keys(to.key, true), r.Cell(r.rows, r.cols, w.row, place), key)
					sc.StoreAt(w.words(to.at, true), r.Cell(r.rows, r.cols, w.row, place), position)
					return
				}
				var wanted *shader.Expr
				if r.places < r.cols {
					wanted = place.Lt(r.places)
				}
				in := sc.When(wanted)
				r.put(in, place, position)
				in.End()
			})
		})
	})
}
