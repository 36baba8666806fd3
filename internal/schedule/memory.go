package schedule

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// load reads an element in each lane, four at a time where they lie side by
// side.
func (sc *scope) load(i int) value {
	p, in := sc.p, &sc.p.k.Body[i]
	v := in.View
	conditions, parts, ok := sc.guards(v)
	if !ok {
		return sc.let(i, opaqueConst(in.Type, v.Fill))
	}
	offset := p.offset(in.Arg)
	var index value
	if len(in.Src) > 0 {
		index = sc.value(in.Src[0])
	}
	pos := sc.place(v, offset)
	lanes := max(len(pos), mostLanes(conditions...), len(index))
	group := 1
	stored := p.loadsOld(in) // later, by lanes that are valid
	if p.k.Args[in.Arg].Align && lanes%4 == 0 && sc.vectorizable(v, index) && (!stored || sc.sameCondition(lanes)) {
		group = 4
	}
	b := p.input(in.Arg)
	result := make(value, lanes)
	for l := 0; l < lanes; l += group {
		place := pos.lane(l)
		for _, part := range parts {
			place = place.Add(part.lane(l))
		}
		var found *shader.Expr
		if index != nil {
			x := index.lane(l)
			if v.Stride != 0 {
				place = place.Add(number(place.Type, v.Stride).Mul(x.Convert(place.Type)))
			}
			found = below(x, v.Len)
		}
		condition := all(allIn(conditions, l), sc.neededIn(l))
		if stored {
			condition = sc.condition(l)
		}
		load := &shader.Load{Buffer: b, Index: place, Declare: condition == nil && found == nil}
		for k := range group {
			x := &shader.Var{Name: sc.name(i, l+k, lanes), Type: shader.Register(in.Type), Mutable: !load.Declare}
			load.Dst = append(load.Dst, x)
			result[l+k] = x.Ref()
			if !load.Declare {
				sc.Do(&shader.Declare{Var: x, Value: opaqueConst(in.Type, v.Fill)})
			}
		}
		sc.under(condition, func(sc *scope) {
			if found == nil {
				sc.Do(load)
				return
			}
			bad := sc.block()
			bad.note(i, l)
			sc.Do(&shader.If{Cond: found, Then: &shader.Block{Stmts: []shader.Stmt{load}}, Else: bad.Block})
		})
	}
	return result
}

// loadAt reads the element at a place into a new variable.
func (sc *scope) loadAt(b *shader.Buffer, place *shader.Expr, name string, mutable bool) *shader.Var {
	v := &shader.Var{Name: name, Type: shader.Register(b.Type), Mutable: mutable}
	sc.Do(&shader.Load{Dst: []*shader.Var{v}, Declare: true, Buffer: b, Index: place})
	return v
}

// storeAt writes an element.
func (sc *scope) storeAt(b *shader.Buffer, place, x *shader.Expr) {
	sc.Do(&shader.Store{Buffer: b, Index: place, Values: []*shader.Expr{x}})
}

// storeEach executes stores, the first after all loads of elements that they replace.
func (sc *scope) storeEach(stores []int) {
	if sc.p.replaces() {
		sc.valueEach(stores)
	}
	for _, i := range stores {
		sc.store(i)
	}
}

// valueEach computes what stores write.
func (sc *scope) valueEach(stores []int) {
	for _, i := range stores {
		sc.value(sc.p.k.Body[i].Src[0])
	}
}

// store writes a Store's value, in every lane that is valid.
func (sc *scope) store(i int) {
	in := &sc.p.k.Body[i]
	sc.storeValue(in, sc.value(in.Src[0]))
}

// storeValue writes a value where an instruction says, in every lane that is valid.
func (sc *scope) storeValue(in *ir.Instr, x value) {
	p := sc.p
	pos := sc.storePlace(in)
	lanes := max(len(pos), len(x))
	group := 1
	if p.k.Args[in.Arg].Align && lanes%4 == 0 && sc.vectorizable(in.View, nil) && sc.sameCondition(lanes) {
		group = 4
	}
	b := p.output(in.Arg)
	for l := 0; l < lanes; l += group {
		store := &shader.Store{Buffer: b, Index: pos.lane(l)}
		for k := range group {
			store.Values = append(store.Values, x.lane(l+k))
		}
		sc.under(sc.condition(l), func(sc *scope) { sc.Do(store) })
	}
}

// storePlace is where an instruction stores, in every lane.
func (sc *scope) storePlace(in *ir.Instr) value {
	if sc.p.k.Args[in.Arg].Part {
		return sc.place(in.View, sc.p.offset(in.Arg))
	}
	return sc.place(in.View)
}

// constant is a number of an element type in a register.
func constant(d ir.DType, x ir.Number) *shader.Expr {
	return shader.FromBits(shader.Register(d), numberBits(d, x))
}

// numberBits has the bits of a number of an element type in a register.
func numberBits(d ir.DType, x ir.Number) uint64 {
	if d.IsFloat() {
		return shader.NumberBits(shader.Register(d), x.Float64(d))
	}
	return uint64(x)
}

// opaqueConst is constant, except that it hides a zero from compilers: they disregard the
// sign of a zero, and multiply by it as if there were no NaN.
func opaqueConst(d ir.DType, x ir.Number) *shader.Expr {
	c := constant(d, x)
	if d.IsFloat() && x.Float64(d) == 0 {
		return c.Launder(shader.FirstWay)
	}
	return c
}
