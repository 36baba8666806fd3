package wgsl

import (
	"fmt"
	"math/bits"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A binding describes the elements of a buffer, and how a pass accesses them. A buffer that is only read is an array of
// vectors unless most accesses are to one element, which some drivers select from a whole vector: one that is written only
// if all are to vectors.
type binding struct {
	size    int    // bytes of an element
	word    string // of an array read one element at a time
	singles int    // accesses to one element, which all 64-bit accesses are
	vectors int    // other accesses
	least   int    // elements of these
	vector  int    // elements of the array's vectors, 1 if it is an array of words
	atomic  bool
}

func newBinding(d ir.DType) *binding {
	size, word := d.Size(), "u32"
	if size >= 4 {
		word = typeName(shader.Register(d))
	}
	return &binding{size: size, word: word, vector: 1}
}

// words is the number of words of the array's vectors.
func (b *binding) words() int {
	if b.vector == 1 {
		return 1
	}
	return b.vector * b.size / 4
}

func (b *binding) element() string {
	switch {
	case b.atomic:
		return "atomic<" + b.word + ">"
	case b.words() > 1:
		return fmt.Sprintf("vec%d<%s>", b.words(), b.word)
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
		switch d := all[b]; {
		case n == 1 || d.size == 8:
			d.singles++
		default:
			if d.vectors++; d.least == 0 || n < d.least {
				d.least = n
			}
		}
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
		if d.vectors > 0 && !d.atomic && (d.singles == 0 || !b.Write && d.singles <= d.vectors) {
			d.vector = d.least
		}
		d.atomic = d.atomic || b.Write && d.size < 4 && d.vector == 1
	}
	return all
}

// log2 is the logarithm of a power of two.
func log2(n int) int { return bits.TrailingZeros(uint(n)) }

// load reads one element, four or eight. One element of vectors is a component of a vector, or a part of one.
func (p *printer) load(s *shader.Load) {
	d := p.bindings[s.Buffer]
	if len(s.Dst) > 1 && d.vector > 1 {
		p.loadVectors(s, d)
		return
	}
	for l, v := range s.Dst {
		if d.size >= 4 && d.vector == 1 {
			p.destination(s, v)
			p.add(s.Buffer.Name)
			p.index(s.Index.Plus(l))
			p.add(";\n")
			continue
		}
		at := "_at_" + v.Name
		p.begin("let ", at, " = ")
		p.end(s.Index.Plus(l).Convert(shader.U32))
		each := max(1, 4/d.size) // elements of a word
		word := fmt.Sprintf("%s[%s >> %du]", s.Buffer.Name, at, log2(max(d.vector, each)))
		if n := d.words(); n > 1 {
			word = fmt.Sprintf("%s[(%s >> %du) & %du]", word, at, log2(each), n-1)
		}
		if d.size >= 4 {
			p.destination(s, v)
			p.add(word, ";\n")
			continue
		}
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

// loadVectors reads four elements, or eight, as one vector or two.
func (p *printer) loadVectors(s *shader.Load, d *binding) {
	q := ""
	for n, v := range s.Dst {
		l := n % d.vector
		if l == 0 {
			q = "_four_" + v.Name
			p.begin("let ", q, " = ", s.Buffer.Name)
			p.index(s.Index.Plus(n).Convert(shader.U32).Shr(log2(d.vector)))
			p.add(";\n")
		}
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
	if d.vector > 1 {
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
		p.call(d.element(), s.Values...)
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
