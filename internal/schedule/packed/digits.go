package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Where threads multiply bytes, elements of rows are integers in shared memory: of the elements of a segment, which
// have a scale of their own, three digits of eight bits. Their products with codes are exact. The greatest element of a
// segment has 22 bits, as many as its product with a float32 is worth in a sum. If it is infinite or NaN, sums are NaN.
type digits struct {
	words   *shader.Shared // of each digit, row, segment and vector: bytes of 16 elements
	numbers *shader.Shared // of each row, segment and vector: the scale and the sum of the elements
	vectors int            // along the depth
}

const (
	digitCount  = 3
	digitBytes  = digitCount*16 + 8 // of a segment
	signedBytes = 0x00808080        // the signs of three bytes
	shifted     = 0x4b400000        // 3·2²² as a float32: the lower bits of a float32 near it count up from there
)

// usesDigits reports whether threads multiply bytes.
func (x *product) usesDigits() bool {
	if !x.Target.Matrices || x.Nest.Axes[x.deep].Len/segment*x.m*digitBytes > x.Target.Bytes()/2 {
		return false
	}
	for _, s := range x.sums {
		f := &x.format(s).Codes.Code
		if s.left != x.sums[0].left || f.Table != nil || f.Bits() == 8 != f.Signed || f.Bits() > 8 {
			return false
		}
	}
	return true
}

// index is where a segment of a vector of a row is.
func (w *worker) index(row, n, vector *shader.Expr) *shader.Expr {
	return row.Mul(w.segments).Add(n).Mul(w.digits.vectors).Add(vector)
}

// all is the number of segments of all rows.
func (w *worker) all() int { return w.m * w.segments * w.digits.vectors }

// prepare puts the rows into shared memory.
func (w *worker) prepare() {
	d, root := &w.digits, w.p.Root
	d.words, d.numbers = w.p.Share(shader.U32.Vec(4), digitCount*w.all()), w.p.Share(shader.F32.Vec(2), w.all())
	loop, item := root.Loop("item", shader.ThreadID, build.U32(w.all()), w.p.Threads)
	row, n, number := loop.Let("row", item.Div(w.segments*d.vectors)), loop.Let("part", item.Div(d.vectors).Rem(w.segments)), loop.Let("number", item.Rem(d.vectors))
	f := w.format(w.sums[0])
	at := w.position(loop, f, number.And(f.Len/w.elements()-1))
	in := loop.Beside("_x")
	in.Enter(build.Span{Axes: w.rows, Base: row})
	first := number.Sub(at.number).Mul(w.elements()).Add(at.first).Add(n.Mul(w.apart))
	in.Enter(build.Span{Axes: []int{w.deep}, Base: first, Step: build.Lanes(segment), Fours: true})
	x := in.Value(w.sums[0].left)
	bits := make([]*shader.Expr, segment)
	var most, total *shader.Expr
	for l := range bits {
		bits[l] = x.Lane(l).Bitcast(shader.U32).And(0x7fffffff)
		if most = bits[l]; l > 0 {
			most = bits[l].Max(bits[0])
		}
		bits[0] = loop.Let(build.Tag("most", l), most)
	}
	exponent := loop.Let("exponent", most.Shr(23))
	bound := loop.Let("bound", exponent.Max(22).Min(254))
	factor := loop.Let("factor", build.U32(275).Sub(bound).Shl(23).Bitcast(shader.F32))
	nan := shader.FromBits(shader.F32, 0x7fc00000)
	scale := loop.Let("scale", exponent.Eq(255).If(nan, bound.Sub(21).Shl(23).Bitcast(shader.F32)))
	for l := range bits {
		bits[l] = loop.Let(build.Tag("bits", l), shader.MulAdd(x.Lane(l), factor, shader.FromBits(shader.F32, shifted)).Bitcast(shader.U32).Sub(shifted))
		if total == nil {
			total = bits[l]
		} else {
			total = total.Add(bits[l])
		}
	}
	for l, x := range bits {
		bits[l] = loop.Let(build.Tag("digits", l), x.Add(signedBytes).Xor(signedBytes))
	}
	to := loop.Let("to", w.index(row, n, number))
	loop.Put(d.numbers, to, shader.Vec(2, scale, total.Bitcast(shader.I32).Convert(shader.F32).Mul(scale)))
	for k := range digitCount {
		words := make([]*shader.Expr, 4)
		for q := range words {
			for l, x := range bits[4*q : 4*q+4] {
				x = x.Shr(8 * (digitCount - 1 - k)).And(0xff).Shl(8 * l)
				if l > 0 {
					x = words[q].Or(x)
				}
				words[q] = x
			}
		}
		loop.Put(d.words, to.Add(k*w.all()), shader.Vec(4, words...))
	}
	loop.End()
	root.Barrier()
}

// bytes are the codes of segment n, four in a word, without their bias.
func (s shape) bytes(sc *build.Scope, f *ir.Field, c codes, n int, name string) (list []*shader.Expr) {
	for q, word := range c.low {
		if count := f.Parts[0].Count; count < 8 {
			word = word.Shr(count * n).And(0x01010101 * (1<<count - 1))
			for _, h := range c.high {
				word = word.Or(s.spread(h, n, q).Shl(count))
				count += h.Count
			}
		}
		list = append(list, sc.Let(build.Tag(name+"y", q), word.Bitcast(shader.I32)))
	}
	return list
}

// multiplyDigits adds the products of segment n of vector number.
func (w *worker) multiplyDigits(sc *build.Scope, all [][]column, n int, number *shader.Expr) {
	in := sc.Inner()
	var words [][digitCount]*shader.Expr
	var numbers []*shader.Expr
	for r := range w.m {
		at := in.Let(build.Tag("at", r), w.index(build.U32(r), build.U32(n), number))
		var row [digitCount]*shader.Expr
		for k := range row {
			row[k] = in.Let(build.Tag("x", r, k), w.digits.words.At(at.Add(k*w.all())).Bitcast(shader.I32.Vec(4)))
		}
		words = append(words, row)
		numbers = append(numbers, in.Let(build.Tag("f", r), w.digits.numbers.At(at)))
	}
	for i, s := range w.sums {
		f := &w.format(s).Codes.Code
		for c, v := range all[i] {
			name := build.Tag("k", i, c)
			one := in.Inner()
			bytes := w.bytes(one, f, v.codes, n, name)
			offset := v.offsetOf(one, f, n, name)
			for r := range w.m {
				var sums [digitCount]*shader.Expr
				for k := range sums {
					sums[k] = build.Number(shader.I32, 0)
					for q, b := range bytes {
						sums[k] = shader.DotBytes(b, words[r][k].At(q), sums[k])
					}
				}
				low := sums[1].Mul(256).Add(sums[2]).Convert(shader.F32)
				value := shader.MulAdd(sums[0].Convert(shader.F32), build.Number(shader.F32, 65536), low)
				acc := w.acc[i][r][c].Acc
				one.Set(acc, shader.MulAdd(value.Mul(numbers[r].At(0)), v.scale[n], acc.Ref()))
				if offset != nil {
					one.Set(acc, shader.MulAdd(numbers[r].At(1), offset, acc.Ref()))
				}
			}
			one.End()
		}
	}
	in.End()
}

// offsetOf is the number that each scaled code of segment n lacks, nil for 0.
func (v *column) offsetOf(sc *build.Scope, f *ir.Field, n int, name string) (offset *shader.Expr) {
	if v.offset != nil {
		offset = v.offset[n]
	}
	if f.Bias == 0 {
		return offset
	}
	bias := v.scale[n].Mul(float64(-f.Bias))
	if offset != nil {
		bias = bias.Add(offset)
	}
	return sc.Let(name+"o", bias)
}
