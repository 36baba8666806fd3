package schedule

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// maxParams is the most parameters of a pass.
const maxParams = 64

// A pass is a shader.Pass under construction.
type pass struct {
	*compiler
	*shader.Pass
	root   *scope
	groups int // workgroups
	// sharedPool has the shared arrays of reductions by the type of registers; the
	// first inUse of them hold something.
	sharedPool map[shader.Type][]*shader.Shared
	inUse      map[shader.Type]int
	// reduced computes the value of a reduction that a scope does not know yet.
	reduced func(sc *scope, i int)
}

// pass appends a pass of workgroups of so many threads; build makes it.
func (c *compiler) pass(threads int, build func(p *pass)) {
	p := &pass{
		compiler: c, Pass: &shader.Pass{Threads: threads, Body: &shader.Block{}},
		sharedPool: map[shader.Type][]*shader.Shared{}, inUse: map[shader.Type]int{},
	}
	p.root = newScope(p)
	build(p)
	p.Grid = c.fold(p.groups)
	if len(p.Params) > maxParams {
		c.fail("%d parameters, more than %d", len(p.Params), maxParams)
	}
	c.program.Passes = append(c.program.Passes, p.Pass)
}

// fold returns a grid of n workgroups, or of a few more.
func (c *compiler) fold(n int) [3]int {
	y := ir.CeilDiv(n, c.t.MaxGroups)
	if y > c.t.MaxGroups || n > math.MaxInt32 { // the number of a workgroup is a U32
		c.fail("%d workgroups, more than a grid holds: "+PartsAdvice, n)
	}
	return [3]int{ir.CeilDiv(n, max(y, 1)), y, 1}
}

// bind finds or makes the buffer of an argument, or of scratch if arg is -1.
func (p *pass) bind(arg, scratch int, d ir.DType, write bool) *shader.Buffer {
	for _, b := range p.Buffers {
		if b.Arg == arg && b.Scratch == scratch {
			b.Write = b.Write || write
			return b
		}
	}
	b := &shader.Buffer{Name: fmt.Sprintf("a%d", arg), Arg: arg, Scratch: scratch, Type: d, Write: write}
	if arg < 0 {
		b.Name = fmt.Sprintf("s%d", scratch)
	}
	p.Buffers = append(p.Buffers, b)
	return b
}

func (p *pass) input(arg int) *shader.Buffer  { return p.bind(arg, 0, p.k.Args[arg].DType, false) }
func (p *pass) output(arg int) *shader.Buffer { return p.bind(arg, 0, p.k.Args[arg].DType, true) }

// words is a scratch buffer of registers of a type of numbers.
func (p *pass) words(scratch int, t shader.Type, write bool) *shader.Buffer {
	return p.bind(-1, scratch, elements[t], write)
}

// elements has the type of elements that lie in memory as registers of a type.
var elements = map[shader.Type]ir.DType{
	shader.F32: ir.Float32, shader.I32: ir.Int32, shader.U32: ir.Uint32,
	shader.F64: ir.Float64, shader.I64: ir.Int64, shader.U64: ir.Uint64,
}

// offset is an argument's offset.
func (p *pass) offset(arg int) *shader.Expr {
	return p.param(shader.Param{Name: fmt.Sprintf("o%d", arg), Type: shader.I32, Arg: arg, Offset: true})
}

// number is an argument's number in a register.
func (p *pass) number(arg int) *shader.Expr {
	t, name := shader.Register(p.k.Args[arg].DType), fmt.Sprintf("v%d", arg)
	switch {
	case t == shader.Bool:
		return p.param(shader.Param{Name: name, Type: shader.U32, Arg: arg}).Ne(0)
	case t.IsWide():
		lower := p.param(shader.Param{Name: name, Type: shader.U32, Arg: arg})
		upper := p.param(shader.Param{Name: name + "u", Type: shader.U32, Arg: arg, Upper: true})
		return joined(lower, upper).Bitcast(t)
	}
	return p.param(shader.Param{Name: name, Type: t, Arg: arg})
}

// joined is a U64 of two words, and halvesOf are its words.
func joined(lower, upper *shader.Expr) *shader.Expr {
	return upper.Convert(shader.U64).Shl(32).Or(lower.Convert(shader.U64))
}

func halvesOf(x *shader.Expr) (lower, upper *shader.Expr) {
	return x.Convert(shader.U32), x.Shr(32).Convert(shader.U32)
}

func (p *pass) param(q shader.Param) *shader.Expr {
	for _, r := range p.Params {
		if *r == q {
			return r.Word()
		}
	}
	p.Params = append(p.Params, &q)
	return q.Word()
}

// share declares memory that the workgroup shares.
func (p *pass) share(t shader.Type, n int) *shader.Shared {
	s := &shader.Shared{Name: fmt.Sprintf("w%d", len(p.Shared)), Type: t, Len: n}
	p.Shared = append(p.Shared, s)
	return s
}

// wordsOf is the number of words of a register.
func wordsOf(t shader.Type) int { return t.Bytes() / 4 }

// wordAt is where word j of n-th registers of a type lies in scratch from base on.
func wordAt(t shader.Type, base, j int, n *shader.Expr) *shader.Expr {
	if w := wordsOf(t); w > 1 {
		return number(n.Type, base+j).Add(number(n.Type, w).Mul(n))
	}
	return number(n.Type, base).Add(n)
}

// loadScratch reads the n-th register of a type that storeScratch wrote to the words of a
// scratch buffer from base on. Name names the words read.
func (p *pass) loadScratch(sc *scope, scratch int, t shader.Type, name string, base int, n *shader.Expr) *shader.Expr {
	b := p.words(scratch, shader.U32, false)
	words := make([]*shader.Expr, wordsOf(t))
	for j := range words {
		own := name
		if len(words) > 1 {
			own += "xyzw"[j : j+1]
		}
		words[j] = sc.loadAt(b, wordAt(t, base, j, n), own, false).Ref()
	}
	var parts []*shader.Expr
	for len(words) > 0 {
		x, size := words[0], wordsOf(t.Elem())
		if size == 2 {
			x = joined(words[0], words[1])
		}
		parts, words = append(parts, x.Bitcast(t.Elem())), words[size:]
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return shader.Vec(len(parts), parts...)
}

func (p *pass) storeScratch(sc *scope, scratch int, base int, n, x *shader.Expr) {
	b := p.words(scratch, shader.U32, true)
	var words []*shader.Expr
	for i := range int(x.Type.Width) {
		part := x
		if x.Type.Width > 1 {
			part = x.At(i)
		}
		if part = part.Bitcast(part.Type.Unsigned()); !part.Type.IsWide() {
			words = append(words, part)
			continue
		}
		lower, upper := halvesOf(part)
		words = append(words, lower, upper)
	}
	for j, word := range words {
		sc.storeAt(b, wordAt(x.Type, base, j, n), word)
	}
}

func number(t shader.Type, n int) *shader.Expr { return shader.Number(t, float64(n)) }

// u32 is a constant.
func u32(n int) *shader.Expr { return number(shader.U32, n) }
