package wgsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// A printer writes statements and collects the declarations that they use.
type printer struct {
	text     []byte
	depth    int
	bindings map[*shader.Buffer]*binding
	// declared has the functions and the private variable that the text uses,
	// by name.
	declared map[string]string
}

// Print gives a pass as a shader with the entry point main. Its buffers are
// @group(0) @binding(i) in their order, and its parameters, if it has any, a block of
// words at the binding after them.
func Print(p *shader.Pass) string {
	body := printer{depth: 1, bindings: bindings(p), declared: map[string]string{}}
	body.block(p.Body)

	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if p.Subgroup > 0 {
		line("enable subgroups;\n")
	}
	if len(p.Params) > 0 {
		line("struct _params {")
		for _, q := range p.Params {
			line("  %s: %v,", q.Name, q.Type)
		}
		line("}\n@group(0) @binding(%d) var<uniform> _p: _params;", len(p.Buffers))
	}
	for i, d := range p.Buffers {
		access := "read"
		if d.Write {
			access = "read_write"
		}
		line("@group(0) @binding(%d) var<storage, %s> %s: array<%s>;", i, access, d.Name, body.bindings[d].element())
	}
	for _, s := range p.Shared {
		line("var<workgroup> %s: array<%s, %d>;", s.Name, typeName(s.Type), s.Len)
	}
	for _, name := range slices.Sorted(maps.Keys(body.declared)) {
		line("\n%s", body.declared[name])
	}
	line("\n@compute @workgroup_size(%d)", p.Threads)
	line("fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {")
	if p.Grid[1] > 1 {
		line("  let _group = _id.x + %du * _id.y;", p.Grid[0])
	} else {
		line("  let _group = _id.x;")
	}
	if body.declared["_zero"] != "" {
		line("  _zero = _id.z;") // no grid is deep
	}
	b.Write(body.text)
	line("}")
	return b.String()
}

// function adds a function, and those that it calls, to the text.
func (p *printer) function(f *shader.Func) {
	if p.declared[f.Name] != "" {
		return
	}
	p.declared[f.Name] = f.Name // while it is printed
	q := printer{declared: p.declared}
	q.add("fn ", f.Name, "(")
	for i, v := range f.Params {
		if i > 0 {
			q.add(", ")
		}
		q.add(v.Name, ": ", typeName(v.Type))
	}
	q.add(") -> ", typeName(f.Result), " {\n")
	q.depth = 1
	q.block(f.Body)
	q.add("}")
	p.declared[f.Name] = string(q.text)
}

func (p *printer) add(text ...string) {
	for _, t := range text {
		p.text = append(p.text, t...)
	}
}

// begin indents a line.
func (p *printer) begin(text ...string) {
	for range p.depth {
		p.text = append(p.text, "  "...)
	}
	p.add(text...)
}
