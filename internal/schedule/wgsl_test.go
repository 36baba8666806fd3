package schedule

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/ptx/ptxtest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
)

// asPTX are the kernels that have a golden file of PTX, too: for the others it would be
// long.
var asPTX = map[string]bool{"chain": true, "chain_bfloat16": true, "packed_bytes": true, "take": true, "scatter": true, "scatter_votes": true, "softmax_short": true, "softmax_subgroups": true, "vector": true, "dense_warps": true, "dense_halves": true, "dense_shared_floats": true, "total_float64": true, "vector_float64": true}

func TestGolden(t *testing.T) {
	for _, c := range typical {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, c.kernel, c.target)
			var b strings.Builder
			for l := range strings.Lines(c.kernel.String()) {
				b.WriteString("// " + l)
			}
			for i, q := range p.Passes {
				fmt.Fprintf(&b, "\n// Pass %d: groups %v, bindings [", i, q.Grid)
				for i, x := range q.Buffers {
					if i > 0 {
						b.WriteByte(' ')
					}
					fmt.Fprintf(&b, "{Arg:%d Scratch:%d Write:%v}", x.Arg, x.Scratch, x.Write)
				}
				b.WriteString("], params [")
				for i, x := range q.Params {
					if i > 0 {
						b.WriteByte(' ')
					}
					fmt.Fprintf(&b, "{Arg:%d Offset:%v}", x.Arg, x.Offset)
				}
				fmt.Fprintf(&b, "], scratch %v\n", p.Scratch)
				if !c.target.Matrices && !c.target.Wide { // which WGSL lacks
					b.WriteString("\n" + wgsl.Print(q))
				}
			}
			goldentext.Check(t, filepath.Join("testdata", c.name+".wgsl"), b.String())
			if !asPTX[c.name] {
				return
			}
			var modules strings.Builder
			for _, q := range p.Passes {
				modules.WriteString(ptx.Print(q, 90) + "\n")
			}
			goldentext.Check(t, filepath.Join("testdata", c.name+".ptx"), modules.String())
		})
	}
}

// validators are compilers of the printed text, other than a device's own.
var validators = []struct {
	name      string
	args      []string
	subgroups bool // it knows them
	print     func(*shader.Pass) string
}{
	{"tint", []string{"--format", "wgsl"}, true, wgsl.Print},
	{"naga", nil, false, wgsl.Print},
	{"ptxas", []string{"-arch=sm_90a", "-o", os.DevNull}, true, func(q *shader.Pass) string { return ptx.Print(q, 90) }},
}

// validate runs each validator that is installed on a pass.
func validate(t *testing.T, q *shader.Pass, target Target) {
	t.Helper()
	if text := ptx.Print(q, 90); ptxtest.Check(text) != nil {
		t.Errorf("%v\n%s", ptxtest.Check(text), text)
	}
	found := false
	for _, v := range validators {
		path, err := exec.LookPath(v.name)
		if err != nil {
			continue
		}
		found = true
		if !v.subgroups && q.Subgroup > 0 || (target.Matrices || target.Wide) && v.name != "ptxas" {
			continue
		}
		source := v.print(q)
		file := filepath.Join(t.TempDir(), "shader.wgsl") // naga reads the extension
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.Command(path, append(v.args[:len(v.args):len(v.args)], file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", v.name, err, text, source)
		}
	}
	if !found {
		t.Skip("neither tint, naga nor ptxas is on the PATH")
	}
}

func TestValid(t *testing.T) {
	for i, c := range typical {
		t.Run(c.name, func(t *testing.T) {
			if i%4 != 0 {
				notShort(t)
			}
			for _, q := range compile(t, c.kernel, c.target).Passes {
				validate(t, q, c.target)
			}
		})
	}
}

// Every elementwise op and reduction of every type compiles: one shader has all ops that
// take a type. Results of halves are stored as halves.
func TestValidOps(t *testing.T) {
	targets := []Target{wide, big, plain, software}
	if testing.Short() {
		targets = targets[:1]
	}
	for _, target := range targets {
		for _, d := range target.Types() {
			t.Run(d.String(), func(t *testing.T) {
				for _, q := range compile(t, allOps(d, target.Types()), target).Passes {
					validate(t, q, target)
				}
			})
		}
	}
}

// allOps is a kernel of all elementwise ops and reductions of a type, with casts to some types.
func allOps(stored ir.DType, types []ir.DType) *ir.Kernel {
	d := stored.ComputeType()
	k := &ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{kept(8), reduced(8)},
		Args:     []ir.Arg{in(stored), in(ir.Bool)},
		Body:     []ir.Instr{load(d, 0, by(8, 1)), load(ir.Bool, 1, by(8, 1))},
	}
	keep := func(i ir.Instr) {
		i.Type = i.Op.ResultDType(i.Type, d)
		k.Body = append(k.Body, i)
		x := len(k.Body) - 1
		v, n := by(8, 1), 64
		if i.Op.Class() == ir.Reduction {
			v, n = by(1, 0), 8
		}
		to := i.Type
		if to == d {
			to = stored
		}
		k.Args = append(k.Args, out(to, n))
		k.Body = append(k.Body, store(i.Type, x, len(k.Args)-1, v))
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		row := ir.Table[op]
		if !row.Types.Has(d) {
			continue
		}
		switch {
		case op.Class() == ir.Reduction:
			keep(reduction(op, d, 0, 2))
		case op.Class() != ir.Elementwise:
		case op == ir.Where:
			keep(alu(op, d, 1, 0, 0))
		case op == ir.Cast || op == ir.Bitcast:
			for _, to := range types {
				if !to.IsHalf() && (op == ir.Cast || to.Size() == d.Size()) {
					keep(alu(op, to, 0))
				}
			}
		default:
			keep(alu(op, d, []int{0, 0, 0, 0}[:row.Arity]...))
		}
	}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// BenchmarkCompile schedules and prints the typical kernels.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		for _, c := range typical {
			p, err := Compile(c.kernel, c.target)
			if err != nil {
				b.Fatal(err)
			}
			for _, q := range p.Passes {
				wgsl.Print(q)
			}
		}
	}
}
