package wgsl

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// A shader is the text of one pass under construction. Its function main
// knows group, the number of its workgroup in the grid, and thread, its own
// in the workgroup.
type shader struct {
	*compiler
	root     *scope
	size     int // threads of a workgroup
	groups   int
	bindings []*binding
	params   []Param
	fields   []string // of the block of parameters
	helpers  map[string]bool
	shared   []string // declarations of memory that a workgroup shares
	lanes    bool     // it calls subgroup functions
	// rooms are the shared memory of reductions by the type of registers, lent
	// says how many of these are in use.
	rooms map[string][]string
	lent  map[string]int
	// one has the arguments that are read or written one element at a time:
	// the shader is made again if an argument was found to be so too late.
	one map[int]bool
	// reduced gives the value of a reduction that is not yet known in a scope.
	reduced func(sc *scope, i int)
}

// A binding is a buffer that the shader names a0, a1 … for arguments, s0, s1 …
// for those of the program's own.
type binding struct {
	Binding
	name   string
	elem   string
	atomic bool
}

// pass makes a shader by build and appends it to the program.
func (c *compiler) pass(size int, build func(s *shader)) {
	one := map[int]bool{}
	for {
		s := &shader{compiler: c, size: size, helpers: map[string]bool{}, one: one, rooms: map[string][]string{}, lent: map[string]int{}}
		s.root = newScope(s)
		known := len(one)
		build(s)
		if c.err != nil {
			return
		}
		if len(one) == known {
			s.finish()
			return
		}
	}
}

func (s *shader) finish() {
	grid, width := s.fold(s.groups)
	p := Pass{Groups: grid, Params: s.params}
	if len(s.params) > maxParams {
		s.fail("%d parameters, more than %d", len(s.params), maxParams)
	}
	for _, b := range s.bindings {
		p.Bindings = append(p.Bindings, b.Binding)
	}
	p.Source = s.source(width)
	s.program.Passes = append(s.program.Passes, p)
}

func (s *shader) source(width int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if s.lanes {
		line("enable subgroups;\n")
	}
	if len(s.fields) > 0 {
		line("struct Params {")
		for _, f := range s.fields {
			line("%s,", f)
		}
		line("}\n@group(1) @binding(0) var<uniform> p: Params;")
	}
	for i, d := range s.bindings {
		access, elem := "read", d.elem
		if d.Write {
			access = "read_write"
		}
		if d.atomic {
			elem = "atomic<" + elem + ">"
		}
		line("@group(0) @binding(%d) var<storage, %s> %s: array<%s>;", i, access, d.name, elem)
	}
	for _, d := range s.shared {
		line("%s", d)
	}
	for _, name := range order {
		if s.helpers[name] {
			line("\n%s", helpers[name])
		}
	}
	line("\n@compute @workgroup_size(%d)", s.size)
	line("fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {")
	if width == s.groups {
		line("let group = id.x;")
	} else {
		line("let group = id.x + %du * id.y;", width)
	}
	if s.helpers["zero"] {
		line("zero = id.z;") // no grid is deep
	}
	b.WriteString(s.root.text.String())
	line("}")
	return indent(b.String())
}

// indent indents lines by the braces that are open.
func indent(text string) string {
	var b strings.Builder
	depth := 0
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "}") {
			depth--
		}
		if l != "" {
			b.WriteString(strings.Repeat("  ", depth))
			b.WriteString(l)
		}
		b.WriteByte('\n')
		if strings.HasPrefix(l, "}") {
			depth++
		}
		depth += strings.Count(l, "{") - strings.Count(l, "}")
	}
	return b.String()
}

// need makes the shader have a helper.
func (s *shader) need(name string) { need(s.helpers, name) }

// call is a call of a helper.
func (s *shader) call(name string, args ...string) string {
	s.need(name)
	return name + "(" + strings.Join(args, ", ") + ")"
}

// bind finds or makes the binding of an argument, or of scratch if arg is -1.
func (s *shader) bind(arg, scratch int, elem string) *binding {
	for _, b := range s.bindings {
		if b.Arg == arg && b.Scratch == scratch {
			return b
		}
	}
	b := &binding{Binding: Binding{Arg: arg, Scratch: scratch}, name: fmt.Sprintf("a%d", arg), elem: elem}
	if arg < 0 {
		b.name = fmt.Sprintf("s%d", scratch)
	}
	s.bindings = append(s.bindings, b)
	return b
}

// buffer is the name of the program's own buffer of elements elem.
func (s *shader) buffer(scratch int, elem string, write bool) string {
	b := s.bind(-1, scratch, elem)
	b.Write = b.Write || write
	return b.name
}

// argument binds an argument whose elements are accessed one at a time or by
// vectors, as the binding then says.
func (s *shader) argument(arg int, vector bool) *binding {
	if !vector {
		s.one[arg] = true
	}
	st := &storages[s.k.Args[arg].DType]
	elem := st.elem
	if !s.one[arg] {
		elem = st.vec
	}
	return s.bind(arg, 0, elem)
}

// offset is the parameter that holds an argument's offset.
func (s *shader) offset(arg int) string {
	return s.param(Param{Arg: arg, Offset: true}, fmt.Sprintf("o%d", arg), "i32")
}

// number is the parameter that holds an argument's number, as a register.
func (s *shader) number(arg int) string {
	switch r := storages[s.k.Args[arg].DType].register; r {
	case "bool":
		return s.param(Param{Arg: arg}, fmt.Sprintf("v%d", arg), "u32") + " != 0u"
	default:
		return s.param(Param{Arg: arg}, fmt.Sprintf("v%d", arg), r)
	}
}

func (s *shader) param(p Param, name, typ string) string {
	field := name + ": " + typ
	for i, q := range s.params {
		if q == p && s.fields[i] == field {
			return "p." + name
		}
	}
	s.params, s.fields = append(s.params, p), append(s.fields, field)
	return "p." + name
}

// share declares memory that the workgroup shares, and gives its name.
func (s *shader) share(elem string, n int) string {
	name := fmt.Sprintf("w%d", len(s.shared))
	s.shared = append(s.shared, fmt.Sprintf("var<workgroup> %s: array<%s, %d>;", name, elem, n))
	return name
}

// stores lists the kernel's stores that write over some of given axes, or
// over none of them.
func (s *compiler) stores(over ir.AxisSet, some bool) []int {
	var list []int
	for i := range s.k.Body {
		if in := &s.k.Body[i]; in.Op == ir.Store && (in.Domain&over != 0) == some {
			list = append(list, i)
		}
	}
	return list
}
