package build

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// MaxParams is the most parameters of a pass, in words: 64 offsets, and 48 numbers of two words.
const MaxParams = 160

// A Pass is a shader.Pass under construction.
type Pass struct {
	*Builder
	*shader.Pass
	Root       *Scope
	Workgroups int // workgroups
	// SharedPool has the shared arrays of reductions by the type of registers; the
	// first InUse of them hold something.
	SharedPool map[shader.Type][]*shader.Shared
	InUse      map[shader.Type]int
	// Finite has the axes over which products by weights are ordinary ones.
	Finite ir.AxisSet
	// Reduced computes the value of a reduction that a scope does not know yet.
	Reduced func(sc *Scope, i int)
}

// AddPass appends a pass of workgroups of so many threads; build makes it.
func (c *Builder) AddPass(threads int, build func(p *Pass)) {
	p := &Pass{
		Builder: c, Pass: &shader.Pass{Threads: threads, Body: &shader.Block{}},
		SharedPool: map[shader.Type][]*shader.Shared{}, InUse: map[shader.Type]int{},
	}
	p.Root = newScope(p)
	build(p)
	p.Grid = c.Fold(p.Workgroups)
	if p.Awaits() < 0 && p.Groups() <= c.Target.Units { // it may begin before others end
		p.Body.Stmts = append([]shader.Stmt{&shader.AwaitOthers{}}, p.Body.Stmts...)
	}
	if len(p.Params) > MaxParams {
		c.Fail("%d parameters, more than %d", len(p.Params), MaxParams)
	}
	c.Program.Passes = append(c.Program.Passes, p.Pass)
}

// Fold returns a grid of n workgroups, or of a few more.
func (c *Builder) Fold(n int) [3]int {
	y := ir.CeilDiv(n, c.Target.MaxGroups)
	if y > c.Target.MaxGroups || n > math.MaxInt32 { // the number of a workgroup is a U32
		c.Fail("%d workgroups, more than a grid holds: "+PartsAdvice, n)
	}
	return [3]int{ir.CeilDiv(n, max(y, 1)), y, 1}
}

// bind finds or makes the buffer of an argument, or of scratch if arg is -1.
func (p *Pass) bind(arg, scratch int, d ir.DType, write bool) *shader.Buffer {
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

// Input is the buffer of an argument that is read, of words if it is in a format.
func (p *Pass) Input(arg int) *shader.Buffer {
	d := p.Nest.Args[arg].DType
	if d.Format() != nil {
		d = ir.Uint32
	}
	return p.bind(arg, 0, d, false)
}

// AwaitOthers waits for other kernels. The pass has loaded from its buffers before.
func (p *Pass) AwaitOthers() {
	for _, b := range p.Buffers {
		b.Ahead = true
	}
	p.Root.Do(&shader.AwaitOthers{})
}

// Output is the buffer of an argument that is written.
func (p *Pass) Output(arg int) *shader.Buffer { return p.bind(arg, 0, p.Nest.Args[arg].DType, true) }

// Words is a scratch buffer of registers of a type of numbers.
func (p *Pass) Words(scratch int, t shader.Type, write bool) *shader.Buffer {
	return p.bind(-1, scratch, elements[t], write)
}

// elements has the type of elements that lie in memory as registers of a type.
var elements = map[shader.Type]ir.DType{
	shader.F32: ir.Float32, shader.I32: ir.Int32, shader.U32: ir.Uint32,
	shader.F64: ir.Float64, shader.I64: ir.Int64, shader.U64: ir.Uint64,
}

// Offset is an argument's offset.
func (p *Pass) Offset(arg int) *shader.Expr {
	return p.param(shader.Param{Name: fmt.Sprintf("o%d", arg), Type: shader.I32, Arg: arg, Offset: true})
}

// number is an argument's number in a register.
func (p *Pass) number(arg int) *shader.Expr {
	t, name := shader.Register(p.Nest.Args[arg].DType), fmt.Sprintf("v%d", arg)
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

func (p *Pass) param(q shader.Param) *shader.Expr {
	for _, r := range p.Params {
		if *r == q {
			return r.Word()
		}
	}
	p.Params = append(p.Params, &q)
	return q.Word()
}

// Share declares memory that the workgroup shares.
func (p *Pass) Share(t shader.Type, n int) *shader.Shared {
	s := &shader.Shared{Name: fmt.Sprintf("w%d", len(p.Shared)), Type: t, Len: n}
	p.Shared = append(p.Shared, s)
	return s
}

// WordsOf is the number of words of a register.
func WordsOf(t shader.Type) int { return t.Bytes() / 4 }

// wordAt is where word j of n-th registers of a type lies in scratch from base on.
func wordAt(t shader.Type, base, j int, n *shader.Expr) *shader.Expr {
	if w := WordsOf(t); w > 1 {
		return Number(n.Type, base+j).Add(Number(n.Type, w).Mul(n))
	}
	return Number(n.Type, base).Add(n)
}

// LoadScratch reads the n-th register of a type that StoreScratch wrote to the words of a
// scratch buffer from base on. Name names the words read.
func (p *Pass) LoadScratch(sc *Scope, scratch int, t shader.Type, name string, base int, n *shader.Expr) *shader.Expr {
	b := p.Words(scratch, shader.U32, false)
	words := make([]*shader.Expr, WordsOf(t))
	for j := range words {
		own := name
		if len(words) > 1 {
			own += "xyzw"[j : j+1]
		}
		words[j] = sc.LoadAt(b, wordAt(t, base, j, n), own, false).Ref()
	}
	var parts []*shader.Expr
	for len(words) > 0 {
		x, size := words[0], WordsOf(t.Elem())
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

// StoreScratch writes the n-th register of a type to the words of a scratch buffer from base on.
func (p *Pass) StoreScratch(sc *Scope, scratch int, base int, n, x *shader.Expr) {
	b := p.Words(scratch, shader.U32, true)
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
		sc.StoreAt(b, wordAt(x.Type, base, j, n), word)
	}
}

// Number is a constant of a type.
func Number(t shader.Type, n int) *shader.Expr { return shader.Number(t, float64(n)) }

// U32 is a constant.
func U32(n int) *shader.Expr { return Number(shader.U32, n) }

// Items returns a block that n threads execute, and the number of a thread, counted over
// all workgroups.
func (p *Pass) Items(n int) (sc *Scope, item *shader.Expr) {
	p.Workgroups = ir.CeilDiv(n, p.Threads)
	t := p.CountType(n)
	item = p.Root.Let("item", shader.GroupID.Convert(t).Mul(p.Threads).Add(shader.ThreadID.Convert(t)))
	return p.Root.When(item.Lt(n)), item
}

// Job is the number of the workgroup. Workgroups that only fill up the grid have the
// number of the last one, and repeat its work.
func (p *Pass) Job() *shader.Expr {
	if grid := p.Fold(p.Workgroups); grid[0]*grid[1] == p.Workgroups {
		return p.Root.Let("job", shader.GroupID)
	}
	return p.Repeating("job", shader.GroupID, p.Workgroups)
}

// Repeating names a number below n. Where x is more, it is the last number, whose work is
// repeated; but a kernel that replaces elements that it has read stores once.
func (p *Pass) Repeating(name string, x *shader.Expr, n int) *shader.Expr {
	if p.Replaces() {
		p.Root.Valid = append(p.Root.Valid, Value{x.Lt(n)})
	}
	return p.Root.Let(name, x.Min(n-1))
}

// Replaces reports whether the kernel reads elements that it replaces.
func (c *Builder) Replaces() bool {
	return slices.ContainsFunc(c.Nest.Body, func(in ir.Instr) bool { return c.loadsOld(&in) })
}

// loadsOld reports whether an instruction reads elements that the kernel replaces.
func (c *Builder) loadsOld(in *ir.Instr) bool {
	return in.Op == ir.Load && c.Nest.Args[in.Arg].Kind == ir.Out
}

// Tag is a name with numbers.
func Tag(name string, n ...int) string {
	for i, x := range n {
		if i > 0 {
			name += "_"
		}
		name += fmt.Sprint(x)
	}
	return name
}
