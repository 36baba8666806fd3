package wgsl

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A binding describes the elements of a buffer, and how a pass accesses them.
type binding struct {
	size   int    // bytes of an element
	word   string // of an array read one element at a time
	four   string // of an array read four at a time
	single bool   // an access is to one element, which all 64-bit accesses are
	fours  bool   // all accesses are to four elements
	atomic bool
}

func newBinding(d ir.DType) *binding {
	size, word := d.Size(), "u32"
	if size >= 4 {
		word = typeName(shader.Register(d))
	}
	four := word // of four elements: as many words as an element has bytes
	if size > 1 {
		four = fmt.Sprintf("vec%d<%s>", size, word)
	}
	return &binding{size: size, word: word, four: four, single: size == 8}
}

func (b *binding) element() string {
	switch {
	case b.fours:
		return b.four
	case b.atomic:
		return "atomic<" + b.word + ">"
	}
	return b.word
}

// bindings looks through a pass for how it accesses its buffers.
func bindings(p *shader.Pass) map[*shader.Buffer]*binding {
	all := map[*shader.Buffer]*binding{}
	for _, b := range p.Buffers {
		all[b] = newBinding(b.Type)
	}
	access := func(b *shader.Buffer, n int) {
		all[b].single = all[b].single || n != 4
		all[b].fours = !all[b].single
	}
	var look func(b *shader.Block)
	look = func(b *shader.Block) {
		if b == nil {
			return
		}
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *shader.Load:
				access(s.Buffer, len(s.Dst))
			case *shader.Store:
				access(s.Buffer, len(s.Values))
			case *shader.Atomic:
				all[s.Buffer].atomic = true
			case *shader.If:
				look(s.Then)
				look(s.Else)
			case *shader.For:
				look(s.Body)
			case *shader.Nested:
				look(s.Body)
			}
		}
	}
	look(p.Body)
	for b, d := range all {
		d.atomic = d.atomic || b.Write && d.size < 4 && !d.fours
	}
	return all
}

// load reads one element, or four.
func (p *printer) load(s *shader.Load) {
	d := p.bindings[s.Buffer]
	if len(s.Dst) == 4 && d.fours {
		p.loadFour(s, d)
		return
	}
	for l, v := range s.Dst {
		if d.size >= 4 {
			p.destination(s, v)
			p.add(s.Buffer.Name)
			p.index(s.Index.Plus(l))
			p.add(";\n")
			continue
		}
		at := "_at_" + v.Name
		p.begin("let ", at, " = ")
		p.end(s.Index.Plus(l).Convert(shader.U32))
		word := fmt.Sprintf("%s[%s >> %du]", s.Buffer.Name, at, 3-d.size)
		if d.atomic {
			word = "atomicLoad(&" + word + ")"
		}
		bit := fmt.Sprintf("(%s & %du) * %du", at, 4/d.size-1, 8*d.size)
		if d.size == 2 {
			bit = "(" + bit + ")"
		}
		p.destination(s, v)
		p.add(unpack(s.Buffer.Type, word, bit), ";\n")
	}
}

// destination begins the assignment of a variable that is loaded.
func (p *printer) destination(s *shader.Load, v *shader.Var) {
	if s.Declare {
		p.begin(keyword(v), v.Name, " = ")
	} else {
		p.begin(v.Name, " = ")
	}
}

func (p *printer) loadFour(s *shader.Load, d *binding) {
	q := "_four_" + s.Dst[0].Name
	p.begin("let ", q, " = ", s.Buffer.Name)
	p.index(s.Index.Convert(shader.U32).Shr(2))
	p.add(";\n")
	for l, v := range s.Dst {
		p.destination(s, v)
		switch d.size {
		case 1:
			p.add(unpack(s.Buffer.Type, q, fmt.Sprintf("%du", 8*l)))
		case 2:
			p.add(unpack(s.Buffer.Type, q+"."+components[l/2], fmt.Sprintf("%du", 16*(l%2))))
		default:
			p.add(q, ".", components[l])
		}
		p.add(";\n")
	}
}

// unpack gives an element from a word and the number of its first bit, which
// for types of 16 bits is an operand of a shift.
func unpack(d ir.DType, word, bit string) string {
	switch {
	case d == ir.Bool:
		return fmt.Sprintf("extractBits(%s, %s, 8u) != 0u", word, bit)
	case d.IsSigned(): // extends the sign
		return fmt.Sprintf("extractBits(bitcast<i32>(%s), %s, %du)", word, bit, 8*d.Size())
	case d.IsInt():
		return fmt.Sprintf("extractBits(%s, %s, %du)", word, bit, 8*d.Size())
	case d == ir.Float16:
		return fmt.Sprintf("unpack2x16float(%s >> %s).x", word, bit)
	}
	return fmt.Sprintf("bitcast<f32>((%s >> %s) << 16u)", word, bit)
}

// packed is the low bits of an element of a packed type.
func packed(d ir.DType, x *shader.Expr) *shader.Expr {
	switch {
	case d == ir.Bool:
		return x.If(shader.Number(shader.U32, 1), shader.Number(shader.U32, 0))
	case d == ir.Float16:
		return pack(shader.F16, x)
	case d == ir.BFloat16:
		return pack(shader.BF16, x)
	case d.IsSigned():
		return x.Bitcast(shader.U32).And(1<<(8*d.Size()) - 1)
	}
	return x
}

// store writes one element, or four.
func (p *printer) store(s *shader.Store) {
	d := p.bindings[s.Buffer]
	if len(s.Values) == 4 && d.fours {
		p.storeFour(s, d)
		return
	}
	for l, x := range s.Values {
		if d.size >= 4 {
			p.begin(s.Buffer.Name)
			p.index(s.Index.Plus(l))
			p.add(" = ")
			p.end(x)
			continue
		}
		p.begin("{\n")
		p.depth++
		p.begin("let _at = ")
		p.end(s.Index.Plus(l).Convert(shader.U32))
		p.begin(fmt.Sprintf("let _bit = (_at & %du) * %du;\n", 4/d.size-1, 8*d.size))
		p.begin(fmt.Sprintf("let _to = &%s[_at >> %du];\n", s.Buffer.Name, 3-d.size))
		p.begin(fmt.Sprintf("atomicAnd(_to, ~(%du << _bit));\n", 1<<(8*d.size)-1))
		p.begin("atomicOr(_to, ")
		p.expr(packed(s.Buffer.Type, x), unary)
		p.add(" << _bit);\n")
		p.depth--
		p.begin("}\n")
	}
}

func (p *printer) storeFour(s *shader.Store, d *binding) {
	p.begin(s.Buffer.Name)
	p.index(s.Index.Convert(shader.U32).Shr(2))
	p.add(" = ")
	if d.size == 4 {
		p.call(d.four, s.Values...)
		p.add(";\n")
		return
	}
	n := 4 / d.size
	words := make([]*shader.Expr, d.size)
	for l, x := range s.Values {
		x = packed(s.Buffer.Type, x)
		if l%n == 0 {
			words[l/n] = x
		} else {
			words[l/n] = words[l/n].Or(x.Shl(8 * d.size * (l % n)))
		}
	}
	if len(words) > 1 {
		p.end(shader.Vec(len(words), words...))
	} else {
		p.end(words[0])
	}
}
