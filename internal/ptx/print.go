package ptx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Entry is the name of the kernel in a module.
const Entry = "kernel"

// A level is a version of the language and an architecture, as 7.0 and sm_80.
type level struct {
	version string
	target  int
	only    string // "a" if it is for that architecture alone
}

// The oldest levels that have each feature: shfl.sync, on an architecture that drivers of
// CUDA 13 still take; products of bytes; matrix instructions; conversions to TF32; products in shared memory.
var (
	basic    = level{"6.0", 50, ""}
	dots     = level{"6.0", 61, ""}
	matrices = level{"7.0", 80, ""}
	hopper   = level{"7.8", 90, ""}
	groups   = level{"8.0", 90, "a"}
)

// require raises the level of the module.
func (p *printer) require(l level) {
	if l.target > p.level.target || l.only != "" {
		p.level = l
	}
}

// Waits reports whether a pass waits for others on a GPU of a compute capability: see shader.AwaitOthers. Elsewhere it must
// not begin before they have ended.
func Waits(capability int) bool { return capability >= hopper.target }

// dependent is an instruction for kernels that begin before those that they follow have ended.
func (p *printer) dependent(name string) {
	if Waits(p.gpu) {
		p.require(hopper)
		p.do("griddepcontrol." + name)
	}
}

// A printer writes the instructions of a pass.
type printer struct {
	text    strings.Builder
	pass    *shader.Pass
	gpu     int          // its compute capability: 80 is 8.0
	counts  [classes]int // of the registers
	labels  int
	level   level
	vars    map[*shader.Var][]value
	owned   map[value]bool // registers of variables that are assigned again
	halves  map[value]half // registers that have the value of a half
	calls   []*call        // that are being printed, the innermost last
	base    map[*shader.Buffer]value
	words   map[*shader.Param]value
	once    value // how the second cache keeps memory that is read ahead, see load
	inPlace bool  // divisions are, see inplace.go
	number  value // of the thread's group of 128, "" if nothing needs it
}

// A value is an operand: a register or a constant.
type value string

// A class is a kind of register.
type class uint8

const (
	pred  class = iota
	word        // 32 bits
	short       // 16 bits
	long        // 64 bits
	classes
)

var classNames = [classes]struct{ name, typ string }{
	pred: {"%p", "pred"}, word: {"%r", "b32"}, short: {"%h", "b16"}, long: {"%d", "b64"},
}

// A half is a register of 16 bits with an F16 or a BF16.
type half struct {
	of   shader.Type
	bits value
}

// A call is a function whose body is being printed.
type call struct {
	results []value
	end     string // the label behind the body; "" if nothing jumps there
}

// Print gives a pass as a module. The parameters of its entry are the addresses of the
// buffers, in their order, and then the words, each of 4 bytes. The GPU's compute capability
// says which instructions may be used: 80 is 8.0.
func Print(p *shader.Pass, capability int) string {
	q := printer{pass: p, gpu: capability, level: basic, vars: map[*shader.Var][]value{}, owned: map[value]bool{}, halves: map[value]half{}, base: map[*shader.Buffer]value{}, words: map[*shader.Param]value{}}
	q.inPlace = multipliesGroups(p.Body)
	for i, b := range p.Buffers {
		q.base[b] = q.result(long, "ld.param.u64", value(fmt.Sprintf("[b%d]", i)))
		q.base[b] = q.result(long, "cvta.to.global.u64", q.base[b])
	}
	for i, w := range p.Params {
		q.words[w] = q.result(word, "ld.param.u32", value(fmt.Sprintf("[w%d]", i)))
	}
	if Waits(capability) && slices.ContainsFunc(p.Buffers, func(b *shader.Buffer) bool { return b.Ahead }) {
		q.once = q.result(long, "createpolicy.fractional.L2::evict_first.b64", "0f3F800000")
	}
	q.dependent("launch_dependents") // those that wait
	q.block(p.Body)
	q.line("ret;")

	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target sm_%d%s\n.address_size 64\n", q.level.version, q.level.target, q.level.only)
	if len(p.Shared) > 0 {
		fmt.Fprintf(&b, "\n.extern .shared .align 1024 .b8 %s[];\n", shared)
	}
	fmt.Fprintf(&b, "\n.visible .entry %s(", Entry)
	separator := ""
	for i := range p.Buffers {
		fmt.Fprintf(&b, "%s\n\t.param .u64 b%d", separator, i)
		separator = ","
	}
	for i := range p.Params {
		fmt.Fprintf(&b, "%s\n\t.param .u32 w%d", separator, i)
		separator = ","
	}
	fmt.Fprintf(&b, "\n)\n.maxntid %d, 1, 1\n", p.Threads)
	if p.Resident > 0 {
		fmt.Fprintf(&b, ".minnctapersm %d\n", p.Resident)
	}
	b.WriteString("{\n")
	for i, n := range q.counts {
		if n > 0 {
			fmt.Fprintf(&b, "\t.reg .%s %s<%d>;\n", classNames[i].typ, classNames[i].name, n)
		}
	}
	if q.number != "" {
		// The shuffle tells NVIDIA's compiler that threads of a warp have the same number.
		fmt.Fprintf(&b, "\tmov.u32 %[1]s, %%tid.x;\n\tshr.u32 %[1]s, %[1]s, 7;\n\tshfl.sync.idx.b32 %[1]s, %[1]s, 0, 31, 4294967295;\n", q.number)
	}
	b.WriteString(q.text.String())
	b.WriteString("}\n")
	return b.String()
}

// shared is the name of the memory that a workgroup shares. A launch says how much it is.
const shared = "shared"

// SharedBytes is the size of a pass's shared arrays, which lie one after the other.
func SharedBytes(p *shader.Pass) int { return sharedOffset(p, nil) }

// sharedOffset is where an array begins.
func sharedOffset(p *shader.Pass, s *shader.Shared) int {
	n := 0
	for _, t := range p.Shared {
		align := max(16, t.Align)
		n = (n + align - 1) / align * align
		if t == s {
			break
		}
		n += t.Len * t.Type.Bytes()
	}
	return n
}

// line writes a line.
func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(&p.text, "\t"+format+"\n", args...)
}

// register returns a new register.
func (p *printer) register(c class) value {
	n := p.counts[c]
	p.counts[c]++
	return value(fmt.Sprint(classNames[c].name, n))
}

// do writes an instruction.
func (p *printer) do(op string, operands ...value) {
	p.text.WriteString("\t" + op)
	for i, x := range operands {
		if i > 0 {
			p.text.WriteString(",")
		}
		p.text.WriteString(" " + string(x))
	}
	p.text.WriteString(";\n")
}

// result writes an instruction whose result is a new register, and returns that.
func (p *printer) result(c class, op string, operands ...value) value {
	r := p.register(c)
	p.do(op, append([]value{r}, operands...)...)
	return r
}

// label returns a new label.
func (p *printer) label() string {
	p.labels++
	return fmt.Sprintf("L%d", p.labels)
}

// place writes a label.
func (p *printer) place(label string) { p.text.WriteString(label + ":\n") }

// classOf is the class of the components of a type.
func classOf(t shader.Type) class {
	switch {
	case t.Elem() == shader.Bool:
		return pred
	case t.IsWide():
		return long
	}
	return word
}

// suffix is the type of instructions on components of a type of numbers.
func suffix(t shader.Type) string {
	return operation{signed: "s32", unsigned: "u32", float: "f32"}.of(t)
}

// copy returns a register with the value of x.
func (p *printer) copy(t shader.Type, x value) value {
	r := p.register(classOf(t))
	p.move(t, r, x)
	return r
}

// move sets a register.
func (p *printer) move(t shader.Type, r, x value) {
	p.do("mov."+classNames[classOf(t)].typ, r, x)
}

// elementType is the type of a load or a store of an element.
func elementType(d ir.DType) string {
	kind := "u" // a narrower integer fills its register
	switch {
	case d.IsHalf() || d.Size() >= 4:
		kind = "b"
	case d.IsSigned():
		kind = "s"
	}
	return fmt.Sprint(kind, 8*d.Size())
}
