package packed

import (
	"math"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Where threads multiply bytes, elements of rows are integers in shared memory: of the elements of a unit, which
// have a scale of their own, two digits of eight bits, as of the CPU's fixed point. Their products with codes are
// exact. If the greatest element is infinite or NaN, sums are NaN.
type digits struct {
	words   *shader.Shared // of each digit, half, unit, row and strip: bytes of 16 elements
	numbers *shader.Shared // of each unit, row and strip: the scale and the sum of the elements
	unit    int            // elements of a unit: one segment or two, of one run
	units   int            // of a strip
	strips  int            // along the depth
}

const (
	digitCount  = 2
	digitBytes  = digitCount*16 + 8 // of a segment
	signedBytes = 0x80808080
	greatest    = 127*256 + 127 // of two digits
	shifted     = 3<<22 + 0x8080
	least       = 17 << 23 // the bits of the least scale times greatest, 2⁻¹¹⁰
)

// usesDigits reports whether threads multiply bytes.
func (x *product) usesDigits() bool {
	if !x.Target.Matrices || x.Target.Subgroup() > x.Target.MaxThreads || x.Nest.Axes[x.deep].Len/segment*x.m*digitBytes > x.Target.Bytes()/2 {
		return false
	}
	for _, s := range x.sums {
		f := &x.format(s).Codes.Code
		if s.left != x.sums[0].left || f.Table != nil || f.Bits() == 8 != f.Signed || f.Bits() > 8 || x.stepBlocks(x.format(s), x.Target.Subgroup())%x.format(s).Group() != 0 {
			return false
		}
	}
	return true
}

// newDigits lays out the rows. A unit is as long as the runs of all formats allow.
func (w *worker) newDigits(strips int) {
	d := digits{unit: 2 * segment, strips: strips}
	for _, s := range w.sums {
		d.unit = min(d.unit, w.format(s).Codes.Run)
	}
	d.units = w.vectors * w.elements() / d.unit
	n := d.units * w.m * strips
	d.words, d.numbers = w.p.Share(shader.U32.Vec(4), digitCount*d.unit/segment*n), w.p.Share(shader.F32.Vec(2), n)
	w.digits = d
}

// number is where a unit of a row and strip is.
func (w *worker) number(unit, row, strip *shader.Expr) *shader.Expr {
	return unit.Mul(w.m).Add(row).Mul(w.digits.strips).Add(strip)
}

// word is where the digit of a half of such a unit is.
func (w *worker) word(digit int, half, number *shader.Expr) *shader.Expr {
	d := &w.digits
	n := d.units * w.m * d.strips
	return number.Add(half.Mul(n)).Plus(digit * d.unit / segment * n)
}

// A portion is some neighbours of a unit, which a thread prepares if they are valid.
type portion struct {
	*build.Scope
	at, part *shader.Expr // the number of its unit, and its number in that
}

// portions are those that a thread prepares in a turn: of as many neighbours as keep all threads busy, and of several units.
type portions struct{ own, rounds, turns int }

func (w *worker) portions() (p portions) {
	d := &w.digits
	points := d.units * d.unit * w.m * d.strips
	p.own = segment
	for p.own > 4 && points/p.own < w.p.Threads {
		p.own /= 2
	}
	p.rounds = ir.CeilDiv(points/p.own, w.p.Threads)
	p.turns = ir.CeilDiv(p.rounds, max(1, heldWords/(p.own*w.p.Threads))) // each loads as many as registers hold
	p.rounds = ir.CeilDiv(p.rounds, p.turns)
	return p
}

// locateAll locates a thread's portions of a turn.
func (w *worker) locateAll(sc *build.Scope, p portions, turn *shader.Expr) (list []portion) {
	d := &w.digits
	all := d.units * d.unit * w.m * d.strips / p.own
	for k := range p.rounds {
		in := sc.Beside(build.Tag("_x", k))
		number := in.Let("number"+in.Tag, turn.Mul(p.rounds).Plus(k).Mul(w.p.Threads).Add(shader.ThreadID))
		item := number
		if p.turns*p.rounds*w.p.Threads > all {
			item = in.Let("item"+in.Tag, number.Min(all-1))
			in.Valid = []build.Value{{number.Lt(all)}}
		}
		list = append(list, w.locatePortion(in, item, p.own))
	}
	return list
}

// vector returns the points of shared reductions that a thread has: its portions of one row, if it prepares them in one turn.
func (w *worker) vector() (v build.Vector, list []portion) {
	p := w.portions()
	if p.turns > 1 || w.m > 1 {
		return w.p.Vector([]int{w.deep}), nil
	}
	list = w.locateAll(w.p.Root, p, build.U32(0))
	for _, x := range list {
		v.Scopes = append(v.Scopes, x.Scope)
	}
	v.Lanes = p.own
	return v, list
}

// prepare puts the rows into shared memory. A thread loads its portions of a turn before it needs the first: some may be located.
func (w *worker) prepare(located []portion) {
	root, p := w.p.Root, w.portions()
	loop, turn := root.Loop("round", build.U32(0), build.U32(p.turns), 1)
	if located == nil {
		located = w.locateAll(loop, p, turn)
	}
	for _, x := range located {
		x.Value(w.sums[0].left)
	}
	w.p.Subgroup = w.Target.Subgroup()
	for _, x := range located {
		in := loop.Inner()
		w.prepareOne(in, x, p.own)
		in.End()
	}
	loop.End()
	root.Barrier()
}

// locatePortion locates a portion of a number.
func (w *worker) locatePortion(in *build.Scope, item *shader.Expr, own int) portion {
	d, per := &w.digits, w.digits.unit/own // threads of a unit
	part, rest := in.Let("part"+in.Tag, item.Rem(per)), item.Div(per)
	strip, rest := in.Let("strip"+in.Tag, rest.Rem(d.strips)), rest.Div(d.strips)
	row, unit := in.Let("row"+in.Tag, rest.Rem(w.m)), in.Let("unit"+in.Tag, rest.Div(w.m))
	in.Enter(build.Span{Axes: w.rows, Base: row})
	joined := 2 * segment / d.unit // units without gaps
	at := w.strip(in, strip).depth.Add(build.Shifted(unit, joined).Mul(max(w.apart, 2*segment))).Add(unit.And(joined - 1).Mul(d.unit)).Add(part.Mul(own))
	in.Enter(build.Span{Axes: []int{w.deep}, Base: at, Step: build.Lanes(own), Fours: true})
	return portion{Scope: in, at: in.Let("to"+in.Tag, w.number(unit, row, strip)), part: part}
}

// prepareOne puts a portion into shared memory.
func (w *worker) prepareOne(sc *build.Scope, p portion, own int) {
	d := &w.digits
	per, halves, values := d.unit/own, d.unit/segment, p.Value(w.sums[0].left)
	most := sc.Var("most", build.U32(least))
	for l := range own {
		sc.Set(most, most.Ref().Max(values.Lane(l).Bitcast(shader.U32).And(0x7fffffff)))
	}
	for mask := 1; mask < per; mask *= 2 {
		sc.Set(most, most.Ref().Max(most.Ref().Shuffle(mask)))
	}
	bound := most.Ref().Bitcast(shader.F32)
	factor := sc.Let("factor", build.Number(shader.F32, greatest).Div(bound))
	nan := shader.FromBits(shader.F32, 0x7fc00000)
	scale := sc.Let("scale", most.Ref().Lt(255<<23).If(bound.Mul(1.0/greatest), nan))
	words := w.cut(sc, values, factor)
	total := sc.Var("total", build.Number(shader.I32, 0))
	for k, list := range words {
		sum := build.Number(shader.I32, 0)
		for _, word := range list {
			sum = shader.DotBytes(word.Bitcast(shader.I32), build.Number(shader.I32, 0x01010101), sum)
		}
		sc.Set(total, total.Ref().Add(sum.Mul(1<<(8*(digitCount-1-k)))))
	}
	for mask := 1; mask < per; mask *= 2 {
		sc.Set(total, total.Ref().Add(total.Ref().Shuffle(mask)))
	}
	sc.Under(build.AllIn(p.Valid, 0), func(sc *build.Scope) {
		word := sc.Let("word", p.part.Mul(own/4))
		for k, list := range words {
			place := sc.Let(build.Tag("place", k), w.word(k, word.Shr(2).And(halves-1), p.at))
			for n, x := range list {
				sc.Do(&shader.StoreShared{Shared: d.words, Index: place, Component: word.And(3).Plus(n), Value: x})
			}
		}
		sc.Under(p.part.Eq(0), func(sc *build.Scope) {
			sc.Put(d.numbers, p.at, shader.Vec(2, scale, total.Ref().Convert(shader.F32).Mul(scale)))
		})
	})
}

// cut returns the digits of elements times a factor, the upper ones first: bytes of words.
func (w *worker) cut(sc *build.Scope, x build.Value, factor *shader.Expr) (words [digitCount][]*shader.Expr) {
	const even = 0x00ff00ff
	for q := range len(x) / 4 {
		var pairs [2]*shader.Expr // of elements two apart, in 16 bits each
		for k := range pairs {
			var both [2]*shader.Expr
			for l := range both {
				both[l] = shader.MulAdd(x.Lane(4*q+2*l+k), factor, build.Number(shader.F32, shifted)).Bitcast(shader.U32)
			}
			pairs[k] = sc.Let(build.Tag("pair", q, k), both[0].And(0xffff).Or(both[1].Shl(16)))
		}
		upper := pairs[0].Shr(8).And(even).Or(pairs[1].And(even << 8))
		lower := pairs[0].And(even).Or(pairs[1].And(even).Shl(8))
		for k, x := range []*shader.Expr{upper, lower} {
			words[k] = append(words[k], sc.Let(build.Tag("digits", k, q), x.Xor(signedBytes)))
		}
	}
	return words
}

// bytes are the codes of segment n of a vector, four in a word, times 2^power: as int8 if they are signed, else as uint8.
// If inPlace, codes of one part stay where they are in their bytes.
func (s shape) bytes(sc *build.Scope, f *ir.Field, c codes, n int, inPlace bool, name string) (list []*shader.Expr, power int) {
	first, width := f.Parts[0].Count*n, f.Parts[0].Count
	inPlace = inPlace && len(c.high) == 0 && width < 8
	if inPlace {
		power = first
	}
	for q, word := range c.low {
		switch count := width; {
		case inPlace:
			word = word.And(0x01010101 * (1<<count - 1) << first)
		case count < 8:
			word = word.Shr(first).And(0x01010101 * (1<<count - 1))
			for _, h := range c.high {
				word = word.Or(s.spread(h, n, q).Shl(count))
				count += h.Count
			}
		}
		if f.Signed {
			word = word.Bitcast(shader.I32)
		}
		list = append(list, sc.Let(build.Tag(name+"y", q), word))
	}
	return list, power
}

// A unitOf is the codes of a unit of a column, times 2^power, and its factors.
type unitOf struct {
	bytes         [][]*shader.Expr // by halves
	power         int
	scale, offset *shader.Expr
}

// multiplyDigits adds the products of a strip.
func (w *worker) multiplyDigits(sc *build.Scope, all [][]column, number *shader.Expr) {
	for unit := range w.digits.units {
		in := sc.Inner()
		units := make([][]unitOf, len(w.sums))
		for i, s := range w.sums {
			f := &w.format(s).Codes.Code
			for c := range all[i] {
				units[i] = append(units[i], w.unitOf(in, f, &all[i][c], unit, build.Tag("k", i, c)))
			}
		}
		for r := range w.m {
			w.multiplyRow(in, units, unit, r, number)
		}
		in.End()
	}
}

// unitOf cuts the codes of a unit out of a strip.
func (w *worker) unitOf(sc *build.Scope, f *ir.Field, v *column, unit int, name string) (u unitOf) {
	_, same := w.segmentAt(unit, 0)
	halves := w.digits.unit / segment
	_, last := w.segmentAt(unit, halves-1)
	for half := range halves {
		j, n := w.segmentAt(unit, half)
		var list []*shader.Expr
		list, u.power = w.bytes(sc, f, v.codes[j], n, same == last, build.Tag(name+"h", half))
		u.bytes = append(u.bytes, list)
		u.scale, u.offset = v.scale[j][n], v.offset[j][n]
	}
	if f.Bias != 0 && u.offset == nil { // each scaled code lacks it
		u.offset = sc.Let(name+"o", u.scale.Mul(-float64(f.Bias)))
	} else if f.Bias != 0 {
		u.offset = sc.Let(name+"o", shader.MulAdd(u.scale, build.Number(shader.F32, -f.Bias), u.offset))
	}
	return u
}

// segmentAt returns the vector and segment of a half of a unit.
func (w *worker) segmentAt(unit, half int) (j, n int) {
	for j := range w.vectors {
		for n := range w.segments {
			if w.unitAt(j, n) == [2]int{unit, half} {
				return j, n
			}
		}
	}
	panic("packed: a unit without a segment")
}

// unitAt is the unit and half that a segment of a vector is.
func (w *worker) unitAt(j, n int) [2]int {
	at := (n*w.vectors + j) * segment // segments in the order of elements
	if w.apart == segment {
		at = (j*w.segments + n) * segment
	}
	return [2]int{at / w.digits.unit, at % w.digits.unit / segment}
}

// multiplyRow adds the products of a unit of a row.
func (w *worker) multiplyRow(sc *build.Scope, units [][]unitOf, unit, r int, number *shader.Expr) {
	in, halves := sc.Inner(), w.digits.unit/segment
	at := in.Let("at", w.number(build.U32(unit), build.U32(r), number))
	var row [digitCount][]*shader.Expr
	for k := range row {
		for h := range halves {
			row[k] = append(row[k], in.Let(build.Tag("x", k, h), w.digits.words.At(w.word(k, build.U32(h), at))))
		}
	}
	numbers := in.Let("f", w.digits.numbers.At(at))
	scales := map[int]*shader.Expr{0: numbers.At(0)} // by power
	for i := range units {
		for c, u := range units[i] {
			var sums [digitCount]*shader.Expr
			for k := range sums {
				t := u.bytes[0][0].Type
				sums[k] = build.Number(t, 0)
				for h, list := range u.bytes {
					for q, b := range list {
						sums[k] = shader.DotBytes(b, row[k][h].At(q).Bitcast(t), sums[k])
					}
				}
			}
			if scales[u.power] == nil {
				scales[u.power] = in.Let(build.Tag("scale", u.power), numbers.At(0).Mul(math.Ldexp(1, -u.power)))
			}
			value := sums[0].Mul(256).Add(sums[1]).Bitcast(shader.I32).Convert(shader.F32)
			acc := w.acc[i][r][c].Acc
			in.Set(acc, shader.MulAdd(value.Mul(scales[u.power]), u.scale, acc.Ref()))
			if u.offset != nil {
				in.Set(acc, shader.MulAdd(numbers.At(1), u.offset, acc.Ref()))
			}
		}
	}
	in.End()
}
