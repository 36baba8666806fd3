package wgsl

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// The printer's own names begin with _, so that no variable of a program hides them.
func TestNames(t *testing.T) {
	declared := regexp.MustCompile(`(?:let|var(?:<[a-z_, ]*>)?|fn|struct) (\w+)|(\w+): (?:vec3<u32>, @|u32\) \{)`)
	for _, d := range []ir.DType{ir.Uint8, ir.Bool, ir.Float32} {
		program := map[string]bool{"main": true, "v": true, "a0": true, "a1": true}
		in := &shader.Buffer{Name: "a0", Type: d}
		out := &shader.Buffer{Name: "a1", Arg: 1, Type: d, Write: true}
		offset := &shader.Param{Name: "offset", Type: shader.I32}
		body := &shader.Block{}
		at := shader.ThreadID.Add(shader.GroupID).Convert(shader.I32).Add(offset.Word())
		for _, name := range []string{"at", "bit", "to", "group", "thread", "p", "q", "zero", "id", "launder", "Params"} {
			program[name] = true
			at = body.Let(name, at.Add(1).Launder(shader.FirstWay))
		}
		v := &shader.Var{Name: "v", Type: shader.Register(d)}
		body.Do(&shader.Load{Dst: []*shader.Var{v}, Declare: true, Buffer: in, Index: at})
		if d == ir.Float32 {
			body.Do(&shader.Assign{Var: v, Component: -1, Value: v.Ref().Launder(shader.FirstWay)})
		}
		body.Do(&shader.Store{Buffer: out, Index: at, Values: []*shader.Expr{v.Ref()}})
		text := Print(&shader.Pass{
			Threads: 64, Grid: [3]int{2, 3, 1}, Body: body,
			Buffers: []*shader.Buffer{in, out}, Params: []*shader.Param{offset},
		})
		own := 0
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			switch name := m[1] + m[2]; {
			case strings.HasPrefix(name, "_"):
				own++
			case !program[name]:
				t.Errorf("%v: the printer declares %s in\n%s", d, name, text)
			}
		}
		if own < 6 { // _params, _p, _zero, _id, _thread, _group
			t.Errorf("%v: the printer declares %d names in\n%s", d, own, text)
		}
		for name := range program {
			if n := len(regexp.MustCompile(`(let|var|fn|struct) `+name+` `).FindAllString(text, -1)); n > 1 {
				t.Errorf("%v: %s is declared %d times in\n%s", d, name, n, text)
			}
		}
	}
}
