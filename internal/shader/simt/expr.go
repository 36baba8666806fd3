package simt

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// expr translates an expression, into registers dst if it is not nil, and
// returns its registers, which may be a variable's.
func (c *compiler) expr(x *shader.Expr, dst value) value {
	if v := c.named(x); v != nil {
		if dst == nil {
			return v
		}
		return c.move(dst, v)
	}
	switch x.Op {
	case shader.LoadShared, shader.LoadAtomic, shader.Call, shader.Shuffle:
		// Not into dst, which they may read after they have written a part of it.
		v := c.takeFor(x.Type)
		switch x.Op {
		case shader.LoadShared:
			c.loadShared(x.Shared, c.expr(x.Args[0], nil), v)
		case shader.LoadAtomic:
			c.loadAtomic(x.Buffer, c.index(x.Args[0]), v)
		case shader.Call:
			c.call(x, v)
		default:
			c.shuffle(c.expr(x.Args[0], nil), v, int32(x.Bits))
		}
		if dst == nil {
			return v
		}
		return c.move(dst, v)
	}
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a, nil)
	}
	if dst == nil {
		dst = c.takeFor(x.Type)
	}
	to := dst
	if slices.ContainsFunc(args, func(a value) bool { return overwrites(dst, a) }) {
		to = c.takeFor(x.Type)
	}
	f := loopOf(x)
	for i, z := range to {
		in := make(value, len(args))
		for k, a := range args {
			in[k] = a.component(i)
		}
		c.emit(func(g *group, on []int32) { g.operate(f, on, z, in) })
	}
	c.copy(dst, to)
	return dst
}

// component is the register that an operand gives for component i of a result:
// Select's condition is one for all.
func (v value) component(i int) register { return v[min(i, len(v)-1)] }

// overwrites reports whether writing z component by component changes a
// component of x before it is read.
func overwrites(z, x value) bool {
	for i := range z {
		if slices.Contains(z[:i], x.component(i)) {
			return true
		}
	}
	return false
}

// named returns the registers of an expression that computes nothing, nil for
// others.
func (c *compiler) named(x *shader.Expr) value {
	switch x.Op {
	case shader.Ref:
		return c.vars[x.Var]
	case shader.Const, shader.Word, shader.Group, shader.Thread:
		return slices.Repeat(value{c.reserve(fixed{x.Op, wordsOf(x.Type), x.Bits, x.Param})}, int(x.Type.Width))
	case shader.Launder, shader.Bitcast:
		return c.expr(x.Args[0], nil)
	case shader.Convert:
		if from := x.Args[0]; keepsBits[[2]shader.Type{from.Type.Elem(), x.Type.Elem()}] {
			return c.expr(from, nil)
		}
	case shader.Component:
		return c.expr(x.Args[0], nil)[x.Bits:][:1]
	case shader.Vector:
		var v value
		for _, a := range x.Args {
			v = append(v, c.expr(a, nil)...)
		}
		if len(v) == 1 {
			return slices.Repeat(v, int(x.Type.Width))
		}
		return v
	}
	return nil
}

// move copies registers.
func (c *compiler) move(dst, src value) value {
	from := src
	if overwrites(dst, src) {
		from = c.take(len(dst), dst[0].words)
		c.copy(from, src)
	}
	c.copy(dst, from)
	return dst
}

func (c *compiler) copy(dst, src value) {
	for i, z := range dst {
		if src[i] != z {
			from := src[i : i+1]
			c.emit(func(g *group, on []int32) { g.operate(copyLoop, on, z, from) })
		}
	}
}

func (c *compiler) shuffle(x, dst value, mask int32) {
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		for i := range dst {
			z, from := g.target(on, dst[i]), g.value(x[i])
			for t := range int32(g.Threads) {
				dst[i].set(z, t, x[i].get(from, t^mask))
			}
		}
	})
}
