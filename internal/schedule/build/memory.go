package build

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// load reads an element in each lane, four at a time where they lie side by
// side.
func (sc *Scope) load(i int) Value {
	p, in := sc.Pass, &sc.Pass.Nest.Body[i]
	v := in.View
	conditions, parts, ok := sc.guards(v)
	if !ok {
		return sc.Define(i, opaqueConst(in.Type, v.Fill))
	}
	offset := p.Offset(in.Arg)
	var index Value
	if len(in.Src) > 0 {
		index = sc.Value(in.Src[0])
	}
	pos := sc.Place(v, offset)
	lanes := max(len(pos), mostLanes(conditions...), len(index))
	group := 1
	stored := p.loadsOld(in) // later, by lanes that are valid
	if p.Nest.Args[in.Arg].Align && lanes%4 == 0 && sc.vectorizable(v, index) && (!stored || sc.sameCondition(lanes)) {
		group = 4
		if p.Nest.Args[in.Arg].DType.IsHalf() && lanes%8 == 0 && index == nil && len(conditions)+len(parts) == 0 && !stored && sc.neededIn(0) == nil && sc.isInEights(v) {
			group = 8
		}
	}
	b := p.Input(in.Arg)
	result := make(Value, lanes)
	for l := 0; l < lanes; l += group {
		place := pos.Lane(l)
		for _, part := range parts {
			place = place.Add(part.Lane(l))
		}
		var found *shader.Expr
		if index != nil {
			x := index.Lane(l)
			if v.Stride != 0 {
				place = place.Add(Number(place.Type, v.Stride).Mul(x.Convert(place.Type)))
			}
			found = below(x, v.Len)
		}
		condition := All(AllIn(conditions, l), sc.neededIn(l))
		if stored {
			condition = sc.Condition(l)
		}
		load := &shader.Load{Buffer: b, Index: place, Declare: condition == nil && found == nil}
		for k := range group {
			x := &shader.Var{Name: sc.NameOf(i, l+k, lanes), Type: shader.Register(in.Type), Mutable: !load.Declare}
			load.Dst = append(load.Dst, x)
			result[l+k] = x.Ref()
			if !load.Declare {
				sc.Do(&shader.Declare{Var: x, Value: opaqueConst(in.Type, v.Fill)})
			}
		}
		sc.Under(condition, func(sc *Scope) {
			if found == nil {
				sc.read(in.Arg, load)
				return
			}
			good, bad := sc.Inner(), sc.Inner()
			good.read(in.Arg, load)
			bad.Note(i, l)
			sc.Do(&shader.If{Cond: found, Then: good.Block, Else: bad.Block})
		})
	}
	return result
}

// read executes a load from an argument, which may be in a format.
func (sc *Scope) read(arg int, load *shader.Load) {
	if sc.Pass.Nest.Args[arg].DType.Format() == nil {
		sc.Do(load)
		return
	}
	if d, ok := sc.Pass.decoded[arg]; ok {
		load.Buffer = sc.Pass.Words(d.scratch, shader.F32, false)
		load.Index = load.Index.Sub(sc.Pass.Offset(arg).Convert(load.Index.Type)).Plus(-d.first)
		sc.Do(load)
		return
	}
	for k, x := range sc.decode(arg, load.Dst[0].Name, load.Index, len(load.Dst)) {
		if v := load.Dst[k]; load.Declare {
			sc.Do(&shader.Declare{Var: v, Value: x})
		} else {
			sc.Set(v, x)
		}
	}
}

// LoadAt reads the element at a place into a new variable.
func (sc *Scope) LoadAt(b *shader.Buffer, place *shader.Expr, name string, mutable bool) *shader.Var {
	v := &shader.Var{Name: name, Type: shader.Register(b.Type), Mutable: mutable}
	sc.Do(&shader.Load{Dst: []*shader.Var{v}, Declare: true, Buffer: b, Index: place})
	return v
}

// StoreAt writes an element.
func (sc *Scope) StoreAt(b *shader.Buffer, place, x *shader.Expr) {
	sc.Do(&shader.Store{Buffer: b, Index: place, Values: []*shader.Expr{x}})
}

// StoreEach executes stores, the first after all loads of elements that they replace.
func (sc *Scope) StoreEach(stores []int) {
	if sc.Pass.Replaces() {
		sc.ValueEach(stores)
	}
	for _, i := range stores {
		sc.store(i)
	}
}

// ValueEach computes the operands of stores.
func (sc *Scope) ValueEach(stores []int) {
	for _, i := range stores {
		sc.Value(sc.Pass.Nest.Body[i].Src[0])
	}
}

// store writes a Store's value, in every lane that is valid.
func (sc *Scope) store(i int) {
	in := &sc.Pass.Nest.Body[i]
	sc.StoreValue(in, sc.Value(in.Src[0]))
}

// StoreValue writes a value where an instruction says, in every lane that is valid.
func (sc *Scope) StoreValue(in *ir.Instr, x Value) {
	p := sc.Pass
	pos := sc.StorePlace(in)
	lanes := max(len(pos), len(x))
	group := 1
	if p.Nest.Args[in.Arg].Align && lanes%4 == 0 && sc.vectorizable(in.View, nil) && sc.sameCondition(lanes) {
		group = 4
	}
	b := p.Output(in.Arg)
	for l := 0; l < lanes; l += group {
		store := &shader.Store{Buffer: b, Index: pos.Lane(l)}
		for k := range group {
			store.Values = append(store.Values, x.Lane(l+k))
		}
		sc.Under(sc.Condition(l), func(sc *Scope) { sc.Do(store) })
	}
}

// StorePlace is where an instruction stores, in every lane.
func (sc *Scope) StorePlace(in *ir.Instr) Value {
	if sc.Pass.Nest.Args[in.Arg].Part {
		return sc.Place(in.View, sc.Pass.Offset(in.Arg))
	}
	return sc.Place(in.View)
}

// Constant is a number of an element type in a register.
func Constant(d ir.DType, x ir.Number) *shader.Expr {
	return shader.FromBits(shader.Register(d), NumberBits(d, x))
}

// NumberBits has the bits of a number of an element type in a register.
func NumberBits(d ir.DType, x ir.Number) uint64 {
	if d.IsFloat() {
		return shader.NumberBits(shader.Register(d), x.Float64(d))
	}
	return uint64(x)
}

// opaqueConst is constant, except that it hides a zero from compilers: they disregard the
// sign of a zero, and multiply by it as if there were no NaN.
func opaqueConst(d ir.DType, x ir.Number) *shader.Expr {
	c := Constant(d, x)
	if d.IsFloat() && x.Float64(d) == 0 {
		return c.Launder(shader.FirstWay)
	}
	return c
}

// Halves has the types of registers that round as halves do.
var Halves = map[ir.DType]shader.Type{ir.Float16: shader.F16, ir.BFloat16: shader.BF16}
