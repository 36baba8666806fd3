package cpu

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// A maker makes random kernels with arguments to run them on.
type maker struct {
	*rand.Rand
	k      *ir.Kernel
	args   []interp.Arg
	exact  []bool // of each instruction: its result has no rounding that a device may do otherwise
	status int
}

func (m *maker) pick(n ...int) int { return n[m.IntN(len(n))] }

func (m *maker) emit(in ir.Instr, exact bool) int {
	m.k.Body = append(m.k.Body, in)
	m.exact = append(m.exact, exact)
	i := len(m.k.Body) - 1
	m.k.Body[i].Domain = m.k.Varies(i)
	return i
}

var registers = []ir.DType{ir.Bool, ir.Uint8, ir.Int8, ir.Uint16, ir.Int16, ir.Int32, ir.Uint32, ir.Int64, ir.Uint64, ir.Float32, ir.Float32, ir.Float32, ir.Float64}

// number is a small element, now and then a special one.
func (m *maker) number(d ir.DType) ir.Number {
	if d.IsFloat() {
		if m.IntN(40) == 0 {
			return ir.Float(d, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[m.IntN(4)])
		}
		return ir.Float(d, float64(m.IntN(33)-16)/4)
	}
	return ir.Int(d, int64(m.IntN(19)-9))
}

func (m *maker) buffer(d ir.DType, n int, index int) int {
	off := m.pick(0, 0, 1, 7)
	data := make([]ir.Number, off+n+m.IntN(3))
	for i := range data {
		data[i] = m.number(d)
		if index > 0 {
			data[i] = ir.Int(d, int64(m.IntN(index)))
			if m.IntN(200) == 0 {
				data[i] = ir.Int(d, int64(index+m.IntN(3)))
			}
		}
	}
	m.k.Args = append(m.k.Args, ir.Arg{Kind: ir.In, DType: d})
	m.args = append(m.args, interp.Arg{Data: data, Offset: off})
	return len(m.args) - 1
}

// A dim is one axis of a stored tensor: its length and the affine expression of the
// position along it.
type dim struct {
	n     int
	off   int
	coef  map[int]int
	div   int
	guard bool
	index bool
}

// dims makes a stored tensor that is read along the given axes.
func (m *maker) dims(axes []int, guards bool) []dim {
	var list []dim
	for len(axes) > 0 {
		a := axes[0]
		n := m.k.Axes[a].Len
		axes = axes[1:]
		d := dim{div: 1, coef: map[int]int{a: 1}, n: n}
		kind := m.IntN(9)
		if !guards && kind >= 3 {
			kind = m.IntN(3)
		}
		switch kind {
		case 0, 1, 5:
		case 2: // flipped
			d.coef[a], d.off = -1, max(n-1, 0)
		case 3: // cropped with a step, perhaps backwards
			step := 1 + m.IntN(3)
			d.off = m.IntN(3)
			d.n = d.off + step*max(n-1, 0) + 1 + m.IntN(3)
			d.coef[a] = step
			if m.IntN(3) == 0 {
				d.coef[a], d.off = -step, d.n-1-m.IntN(2)*0
			}
		case 4: // padded
			d.guard = true
			d.off = m.IntN(5) - 2
			d.n = max(0, n-m.IntN(4))
			if m.IntN(3) == 0 {
				d.coef[a], d.off = -1, n-1-m.IntN(3)
			}
		case 6: // interior padding
			d.guard = true
			d.div = 2 + m.IntN(3)
			d.coef[a] = m.pick(1, 1, -1, 2, 3)
			d.off = m.IntN(7) - 3
			d.n = max(0, n/2)
		case 7: // a window, or its transpose
			if len(axes) == 0 {
				break
			}
			b := axes[0]
			axes = axes[1:]
			s, e := 1+m.IntN(2), 1+m.IntN(2)
			if m.IntN(2) == 0 {
				d.coef = map[int]int{a: s, b: e}
				d.n = s*max(n-1, 0) + e*max(m.k.Axes[b].Len-1, 0) + 1
				if m.IntN(2) == 0 {
					d.guard = true
					d.off = -1
				}
			} else {
				d.coef = map[int]int{a: 1, b: -e}
				d.div = s
				d.n = max(1, n/2)
				d.guard = true
			}
		case 8: // by an index
			d.index = true
			d.n = 1 + m.IntN(6)
			d.coef = nil
		}
		list = append(list, d)
	}
	m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// view gives the view of a stored tensor, dense in the order of its dims, and how many
// elements it has. at is the dim whose position is an index, or -1.
func (m *maker) view(list []dim) (v *ir.View, n, at int) {
	v = &ir.View{Coef: make([]int, len(m.k.Axes))}
	n, at = 1, -1
	for i := len(list) - 1; i >= 0; i-- {
		d := list[i]
		switch {
		case d.index:
			at = i
			v.Stride, v.Len = n, d.n
		case d.div == 1:
			v.Off += n * d.off
			for a, c := range d.coef {
				v.Coef[a] += n * c
			}
		}
		if d.guard {
			g := ir.Guard{AffineExpr: ir.AffineExpr{Off: d.off, Coef: make([]int, len(m.k.Axes)), Div: d.div}, Len: d.n}
			for a, c := range d.coef {
				g.Coef[a] = c
			}
			if d.div > 1 {
				g.Stride = n
			}
			v.Guards = append(v.Guards, g)
		}
		n *= d.n
	}
	return v, n, at
}

// some chooses from axes.
func (m *maker) some(axes []int) []int {
	var list []int
	all := m.IntN(2) == 0
	for _, a := range axes {
		if all || m.IntN(3) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// load reads a new buffer along some of the axes.
func (m *maker) load(axes []int, typ ir.DType, index int) int {
	elem := typ
	if typ == ir.Float32 && m.IntN(4) == 0 {
		elem = []ir.DType{ir.Float16, ir.BFloat16}[m.IntN(2)]
	}
	list := m.dims(m.some(axes), index == 0)
	indexed := false
	for i := range list { // one index at most
		if list[i].index {
			if indexed || m.status < 0 {
				list[i] = dim{n: 1, div: 1}
			}
			indexed = true
		}
	}
	v, n, at := m.view(list)
	v.Fill = m.number(typ)
	in := ir.Instr{Op: ir.Load, Type: typ, View: v}
	if at >= 0 {
		d := []ir.DType{ir.Int32, ir.Uint32, ir.Int64}[m.IntN(3)]
		in.Src = []int{m.load(axes, d, v.Len)}
	}
	in.Arg = m.buffer(elem, n, index)
	return m.emit(in, true)
}

// store writes a value over the axes to a new buffer.
func (m *maker) store(x int, axes []int) {
	typ := m.k.Body[x].Type
	elem := typ
	if typ == ir.Float32 && m.IntN(4) == 0 {
		elem = []ir.DType{ir.Float16, ir.BFloat16}[m.IntN(2)]
	}
	order := slices.Clone(axes)
	if m.IntN(2) == 0 {
		m.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	v := &ir.View{Coef: make([]int, len(m.k.Axes))}
	n := m.pick(1, 1, 1, 2)
	for _, a := range slices.Backward(order) {
		v.Coef[a] = n
		if m.IntN(8) == 0 {
			v.Off += n * max(m.k.Axes[a].Len-1, 0)
			v.Coef[a] = -n
		}
		n *= max(m.k.Axes[a].Len, 1)
		if m.IntN(8) == 0 {
			n += 2
		}
	}
	off := m.pick(0, 0, 3)
	m.k.Args = append(m.k.Args, ir.Arg{Kind: ir.Out, DType: elem, Len: n + v.Off})
	data := make([]ir.Number, off+n+v.Off+2)
	for i := range data {
		data[i] = ir.Int(elem, 5)
	}
	m.args = append(m.args, interp.Arg{Data: data, Offset: off})
	m.emit(ir.Instr{Op: ir.Store, Type: typ, Src: []int{x}, Arg: len(m.args) - 1, View: v}, m.exact[x])
}

// Ops whose results may be another altogether where an operand changes a little.
var jumps = []ir.Op{ir.Floor, ir.Eq, ir.Lt, ir.Rem, ir.Bitcast, ir.Sin, ir.Cos, ir.Atan2}

// Ops whose last bits are the device's own.
var loose = []ir.Op{ir.Exp, ir.Expm1, ir.Log, ir.Log1p, ir.Log2, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Erfc, ir.Pow, ir.Atan2}

var elementwise = func() []ir.Op {
	var list []ir.Op
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if op.Class() == ir.Elementwise {
			list = append(list, op)
		}
	}
	return list
}()

// alu adds an elementwise op on some of the values; the last of them is among
// the operands if it can be.
func (m *maker) alu(values []int) int {
	x := values[len(values)-1]
	if m.IntN(4) == 0 {
		x = values[m.IntN(len(values))]
	}
	for {
		op := elementwise[m.IntN(len(elementwise))]
		row := ir.Table[op]
		d := m.k.Body[x].Type
		if op == ir.Exp && d.IsFloat() || op == ir.Pow && d.IsFloat() || op == ir.Expm1 {
			continue // too large too soon; tested by themselves
		}
		exact := m.exact[x]
		to := d
		switch {
		case op == ir.Cast:
			to = registers[m.IntN(len(registers))]
			if !exact && !to.IsFloat() {
				continue
			}
		case op == ir.Bitcast:
			to = registers[m.IntN(len(registers))]
			if to.Size() != d.Size() || to.IsFloat() && !d.IsFloat() || d.IsFloat() && m.k.Body[x].Op != ir.Load {
				continue // the bits of a NaN that is computed are free
			}
		case op == ir.Where:
		case !row.Types.Has(d):
			continue
		}
		if !exact && slices.Contains(jumps, op) {
			continue
		}
		src := make([]int, row.Arity)
		for i := range src {
			want := d
			if op == ir.Where && i == 0 {
				want = ir.Bool
			}
			src[i] = m.value(values, want)
			if slices.Contains(jumps, op) && !m.exact[src[i]] {
				src[i] = m.emit(ir.Instr{Op: ir.Const, Type: want, Num: m.number(want)}, true)
			}
			exact = exact && m.exact[src[i]]
		}
		if op == ir.Where {
			src[1] = x
		} else {
			src[m.IntN(len(src))] = x
		}
		return m.emit(ir.Instr{Op: op, Type: op.ResultDType(to, d), Src: src}, exact && (!d.IsFloat() || !slices.Contains(loose, op)))
	}
}

// value is one of the values of a type, or a new one.
func (m *maker) value(values []int, d ir.DType) int {
	for range 4 {
		if x := values[m.IntN(len(values))]; m.k.Body[x].Type == d {
			return x
		}
	}
	if m.IntN(2) == 0 {
		m.k.Args = append(m.k.Args, ir.Arg{Kind: ir.Value, DType: d})
		m.args = append(m.args, interp.Arg{Num: m.number(d)})
		return m.emit(ir.Instr{Op: ir.Scalar, Type: d, Arg: len(m.args) - 1}, true)
	}
	return m.emit(ir.Instr{Op: ir.Const, Type: d, Num: m.number(d)}, true)
}

// body makes some values over axes.
func (m *maker) body(axes []int, values []int, n int) []int {
	for range n {
		switch k := m.IntN(12); {
		case k == 0 && len(axes) > 0:
			values = append(values, m.emit(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: axes[m.IntN(len(axes))]}, true))
		case k == 1:
			list := slices.DeleteFunc(m.dims(m.some(axes), true), func(d dim) bool { return d.index })
			v, _, _ := m.view(list)
			values = append(values, m.emit(ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: &ir.View{Guards: v.Guards}}, true))
		case k < 5 || len(values) == 0:
			values = append(values, m.load(axes, registers[m.IntN(len(registers))], 0))
		default:
			values = append(values, m.alu(values))
		}
	}
	return values
}

var lengths = []int{1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 64, 100}

// axes makes axes of one role.
func (m *maker) axes(role ir.Role, most int) []int {
	var list []int
	for range m.IntN(most + 1) {
		n := lengths[m.IntN(len(lengths))]
		if m.IntN(40) == 0 {
			n = 0
		}
		points := n // but for empty axes, which results may lack
		for _, a := range m.k.Axes {
			points *= max(a.Len, 1)
		}
		if points > 3000 {
			n = 1 + m.IntN(3)
		}
		m.k.Axes = append(m.k.Axes, ir.Axis{Len: n, Role: role})
		list = append(list, len(m.k.Axes)-1)
	}
	return list
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), k: &ir.Kernel{}, status: -1}
	if m.IntN(3) > 0 {
		m.k.Args = append(m.k.Args, ir.Arg{Kind: ir.Status, DType: ir.Int32})
		m.args = append(m.args, interp.Arg{Data: make([]ir.Number, ir.StatusLen)})
		m.status = 0
	}
	return m
}

func makeMap(seed uint64) *maker {
	m := newMaker(seed)
	m.k.Template = ir.Pointwise
	axes := m.axes(ir.Parallel, 5)
	values := m.body(axes, nil, 1+m.IntN(8))
	m.store(values[len(values)-1], axes)
	for range m.IntN(3) {
		m.store(values[m.IntN(len(values))], axes)
	}
	return m
}

func makeRow(seed uint64) *maker {
	m := newMaker(seed)
	m.k.Template = ir.Reduce
	var kept, reduced []int
	for range 1 + m.IntN(2) {
		kept = append(kept, m.axes(ir.Parallel, 2)...)
		reduced = append(reduced, m.axes(ir.Reduced, 2)...)
	}
	if len(reduced) == 0 {
		m.k.Axes = append(m.k.Axes, ir.Axis{Len: m.pick(1, 5, 40), Role: ir.Reduced})
		reduced = []int{len(m.k.Axes) - 1}
	}
	all := slices.Concat(kept, reduced)
	values := m.body(all, nil, 1+m.IntN(4))
	reds := 0
	for range 1 + m.IntN(3) {
		x := values[len(values)-1]
		if m.IntN(3) == 0 {
			x = values[m.IntN(len(values))]
		}
		op := []ir.Op{ir.Sum, ir.ReduceMax, ir.Prod, ir.ArgMax}[m.IntN(4)]
		d := m.k.Body[x].Type
		if !ir.Table[op].Types.Has(d) || op == ir.ArgMax && !m.exact[x] {
			op = ir.ReduceMax
		}
		var axes ir.AxisSet
		for _, a := range reduced {
			axes |= 1 << a
		}
		values = append(values, m.emit(ir.Instr{Op: op, Type: op.ResultDType(d, d), Src: []int{x}, Axes: axes},
			m.exact[x] && (!d.IsFloat() || op != ir.Sum && op != ir.Prod)))
		reds++
		values = m.body(all, values, m.IntN(3))
	}
	for range 1 + m.IntN(3) {
		x := values[m.IntN(len(values))]
		if m.k.Body[x].Domain&m.k.Roles(ir.Reduced) == 0 && m.IntN(2) == 0 {
			m.store(x, kept)
		} else {
			m.store(x, all)
		}
	}
	return m
}

func makeContract(seed uint64) *maker {
	m := newMaker(seed)
	m.k.Template = ir.Contraction
	var by [7][]int
	for _, r := range m.Perm(4) {
		role := []ir.Role{ir.Batch, ir.M, ir.N, ir.K}[r]
		by[role] = append(by[role], m.axes(role, 2)...)
	}
	if len(by[ir.K]) == 0 {
		m.k.Axes = append(m.k.Axes, ir.Axis{Len: m.pick(1, 5, 40), Role: ir.K})
		by[ir.K] = []int{len(m.k.Axes) - 1}
	}
	d := []ir.DType{ir.Float32, ir.Float32, ir.Float64, ir.Int32, ir.Uint8, ir.Int64}[m.IntN(6)]
	widened := d == ir.Int32 && m.IntN(2) == 0 // from int8
	factor := func(axes []int) int {
		values := m.body(axes, nil, 1+m.IntN(3))
		x := values[len(values)-1]
		if widened && m.k.Body[x].Type != ir.Int8 {
			x = m.load(axes, ir.Int8, 0)
		}
		if m.k.Body[x].Type != d {
			if from := m.k.Body[x].Type; !m.exact[x] || from == ir.Uint32 || from == ir.Int64 { // large where they wrapped
				return m.load(axes, d, 0)
			}
			x = m.emit(ir.Instr{Op: ir.Cast, Type: d, Src: []int{x}}, true)
		}
		return x
	}
	x := factor(slices.Concat(by[ir.Batch], by[ir.M], by[ir.K]))
	y := factor(slices.Concat(by[ir.Batch], by[ir.N], by[ir.K]))
	if m.IntN(2) == 0 {
		x, y = y, x
	}
	exact := m.exact[x] && m.exact[y] && !d.IsFloat()
	x = m.emit(ir.Instr{Op: ir.Mul, Type: d, Src: []int{x, y}}, exact)
	var axes ir.AxisSet
	for _, a := range by[ir.K] {
		axes |= 1 << a
	}
	x = m.emit(ir.Instr{Op: ir.Sum, Type: ir.Sum.ResultDType(d, d), Src: []int{x}, Axes: axes}, exact)
	result := slices.Concat(by[ir.Batch], by[ir.M], by[ir.N])
	values := m.body(result, []int{x}, m.IntN(4))
	m.store(values[len(values)-1], result)
	if m.IntN(3) == 0 {
		m.store(x, result)
	}
	return m
}

func makeScatter(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), k: &ir.Kernel{Template: ir.Routine}, status: 2}
	d := []ir.DType{ir.Float32, ir.Float16, ir.Int32, ir.Int64, ir.Uint8, ir.Float64}[m.IntN(6)]
	m.k.Args = []ir.Arg{{Kind: ir.Out, DType: d}, {Kind: ir.In, DType: d}, {Kind: ir.Status, DType: ir.Int32}}
	m.args = []interp.Arg{{}, {}, {Data: make([]ir.Number, ir.StatusLen)}}
	axes := m.axes(ir.Parallel, 4)
	n := 1 + m.IntN(9)
	at := m.IntN(len(axes) + 1)
	v := &ir.View{Coef: make([]int, len(axes)), Len: n}
	size := 1
	for i := len(axes); i >= 0; i-- {
		switch {
		case i == at:
			v.Stride = size
			size *= n
		case i < len(axes) && m.IntN(4) > 0:
			v.Coef[i] = size
			size *= m.k.Axes[i].Len
		}
	}
	for i := range 2 {
		off := m.pick(0, 2)
		data := make([]ir.Number, off+size+1)
		for j := range data {
			data[j] = m.number(d)
		}
		m.args[i] = interp.Arg{Data: data, Offset: off}
	}
	m.k.Args[0].Len = size
	index := m.load(axes, []ir.DType{ir.Int32, ir.Uint32, ir.Int64}[m.IntN(3)], n)
	update := m.load(axes, d.ComputeType(), 0)
	kind := []ir.Op{ir.Add, ir.Mul, ir.Max, ir.Min}[m.IntN(4)]
	src := []int{index, update}
	if m.IntN(3) == 0 {
		src = append(src, m.emit(ir.Instr{Op: ir.Const, Type: d.ComputeType(), Num: m.number(d)}, true))
	}
	m.emit(ir.Instr{Op: ir.Scatter, Type: d.ComputeType(), Kind: kind, Src: src, Arg: 0, View: v}, true)
	return m
}

// prune drops instructions that no store depends on, because devices need not report their
// bad indices.
func (m *maker) prune() {
	need := make([]bool, len(m.k.Body))
	for i := len(need) - 1; i >= 0; i-- {
		op := m.k.Body[i].Op
		need[i] = need[i] || op == ir.Store || op == ir.Scatter
		for _, j := range m.k.Body[i].Src {
			need[j] = need[j] || need[i]
		}
	}
	to := make([]int, len(need))
	var body []ir.Instr
	var exact []bool
	for i, in := range m.k.Body {
		if need[i] {
			to[i] = len(body)
			for n, j := range in.Src {
				in.Src[n] = to[j]
			}
			body, exact = append(body, in), append(exact, m.exact[i])
		}
	}
	m.k.Body, m.exact = body, exact
}
