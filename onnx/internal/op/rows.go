package op

import (
	"encoding/binary"

	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Rows are made by these functions, so that the table has a line for each operator.

// New returns a row of the standard's own domain, for all versions.
func New(name string, f Func) Row { return Row{Name: name, F: f} }

// From returns the row for versions since a number.
func (r Row) From(since int) Row {
	r.Since = since
	return r
}

// To returns the row for versions until a number.
func (r Row) To(until int) Row {
	r.Until = until
	return r
}

// Of returns the row in another domain.
func (r Row) Of(domain string) Row {
	r.Domain = domain
	return r
}

// Drawn returns the row of an operator of random results.
func (r Row) Drawn() Row {
	r.Random = true
	return r
}

// Replays returns the row of an operator that runs nodes before it again.
func (r Row) Replays() Row {
	r.Again = true
	return r
}

// One makes a Func of a function with one result.
func One(f func(*Call) tensor.Tensor) Func {
	return func(c *Call) []Value { return []Value{Of(f(c))} }
}

// Many makes a Func of a function whose results are tensors; absent ones are not wanted.
func Many(f func(*Call) []tensor.Tensor) Func {
	return func(c *Call) []Value {
		ts := f(c)
		vs := make([]Value, len(ts))
		for i, t := range ts {
			if t.IsValid() {
				vs[i] = Of(t)
			}
		}
		return vs
	}
}

// Unary makes a Func of a function of a tensor.
func Unary(f func(tensor.Tensor) tensor.Tensor) Func {
	return One(func(c *Call) tensor.Tensor { return f(c.Tensor(0)) })
}

// Binary makes a Func of a function of two tensors, which broadcasts.
func Binary(f func(x tensor.Tensor, y tensor.Operand) tensor.Tensor) Func {
	return One(func(c *Call) tensor.Tensor { return f(c.Tensor(0), c.Aligned()) })
}

// Move makes a Func of a function that moves the elements of input 0 without regard to their type:
// narrow types stay, and strings are moved as their numbers in a list.
func Move(f func(*Call) tensor.Tensor) Func { return MoveOf(0, f) }

// MoveOf is Move of another input.
func MoveOf(data int, f func(*Call) tensor.Tensor) Func {
	return moves(data, func(c *Call) []tensor.Tensor { return []tensor.Tensor{f(c)} })
}

// Moves is Move of a function with several results.
func Moves(f func(*Call) []tensor.Tensor) Func { return moves(0, f) }

func moves(data int, f func(*Call) []tensor.Tensor) Func {
	return func(c *Call) []Value {
		e := c.Value(data).Elem
		pool := Pool{}
		if e == String {
			in := make([]Value, len(c.In))
			for i, v := range c.In {
				if in[i] = v; v.Kind == StringKind {
					in[i] = pool.Codes(v)
				}
			}
			d := *c
			d.In = in
			c = &d
		}
		ts := f(c)
		vs := make([]Value, len(ts))
		for i, t := range ts {
			if e == String {
				vs[i] = pool.Texts(c, t)
			} else {
				vs[i] = As(e, t)
			}
		}
		return vs
	}
}

// A Pool numbers strings, from 1 on; 0 is the empty one.
type Pool struct {
	codes map[string]int32
	texts []string
}

// Codes returns the numbers of strings, as int32.
func (p *Pool) Codes(v Value) Value {
	if p.codes == nil {
		p.codes, p.texts = map[string]int32{"": 0}, []string{""}
	}
	list := make([]int32, len(v.Strings))
	for i, s := range v.Strings {
		code, ok := p.codes[s]
		if !ok {
			code = int32(len(p.texts))
			p.codes[s] = code
			p.texts = append(p.texts, s)
		}
		list[i] = code
	}
	return Known(Of(tensor.New(list, v.Shape...)))
}

// Texts returns the strings of numbers.
func (p *Pool) Texts(c *Call, codes tensor.Tensor) Value {
	b := c.Runner.Bytes(Of(codes))
	out := make([]string, len(b)/4)
	for i := range out {
		out[i] = p.texts[binary.LittleEndian.Uint32(b[4*i:])]
	}
	return Texts(out, codes.Shape()...)
}

// Decode returns a tensor of an attribute.
func (c *Call) Decode(t *proto.Tensor) Value {
	if t == nil {
		c.Fail("it has an attribute without a tensor")
	}
	v, err := Decode(t, nil)
	if err != nil {
		c.Fail("%v", err)
	}
	return v
}
