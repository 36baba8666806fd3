package wgsl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/ir"
)

func compile(t *testing.T, k *ir.Kernel, target Target) *Program {
	t.Helper()
	if err := ir.Verify(k); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	p, err := Compile(k, target)
	if err != nil {
		t.Fatalf("Compile(%v): %v", k, err)
	}
	return p
}

func TestGolden(t *testing.T) {
	for _, c := range typical {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, c.kernel, c.target)
			var b strings.Builder
			for l := range strings.Lines(c.kernel.String()) {
				b.WriteString("// " + l)
			}
			for i, q := range p.Passes {
				fmt.Fprintf(&b, "\n// Pass %d: groups %v, bindings %+v, params %+v, scratch %v\n\n%s", i, q.Groups, q.Bindings, q.Params, p.Scratch, q.Source)
			}
			goldentext.Check(t, filepath.Join("testdata", c.name+".wgsl"), b.String())
		})
	}
}

// validators are compilers of WGSL other than a device's own.
var validators = []struct {
	name      string
	args      []string
	subgroups bool // it knows them
}{
	{"tint", []string{"--format", "wgsl"}, true},
	{"naga", nil, false},
}

// validate has each validator there is read a shader.
func validate(t *testing.T, source string) {
	t.Helper()
	found := false
	for _, v := range validators {
		path, err := exec.LookPath(v.name)
		if err != nil {
			continue
		}
		found = true
		if !v.subgroups && strings.Contains(source, "enable subgroups") {
			continue
		}
		file := filepath.Join(t.TempDir(), "shader.wgsl")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.Command(path, append(v.args[:len(v.args):len(v.args)], file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", v.name, err, text, source)
		}
	}
	if !found {
		t.Skip("neither tint nor naga is on the PATH")
	}
}

func TestValid(t *testing.T) {
	for _, c := range typical {
		t.Run(c.name, func(t *testing.T) {
			for _, q := range compile(t, c.kernel, c.target).Passes {
				validate(t, q.Source)
			}
		})
	}
}

// Every elementwise op and reduction of every type compiles: one shader has
// all that take a type. What halves give is stored as halves.
func TestValidOps(t *testing.T) {
	for _, stored := range []ir.DType{ir.Bool, ir.Uint8, ir.Int32, ir.Uint32, ir.Float16, ir.BFloat16, ir.Float32} {
		t.Run(stored.String(), func(t *testing.T) {
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
					keep(reduce(op, d, 0, 2))
				case op.Class() != ir.Elementwise:
				case op == ir.Where:
					keep(alu(op, d, 1, 0, 0))
				case op == ir.Cast || op == ir.Bitcast:
					for _, to := range []ir.DType{ir.Bool, ir.Uint8, ir.Int32, ir.Uint32, ir.Float32} {
						if op == ir.Cast || to.Size() == d.Size() {
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
			for _, target := range []Target{plain, big, software} {
				for _, q := range compile(t, k, target).Passes {
					validate(t, q.Source)
				}
			}
		})
	}
}

func TestEveryKernelOpHasAnEmitter(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		want := op.Class() == ir.Elementwise || op == ir.Const || op == ir.Scalar || op == ir.Index || op == ir.InBounds || op == ir.Load
		if got := emitterOf(op) != nil; got != want {
			t.Errorf("%v has an emitter: %v, want %v", op, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	wide := chain(8, f32)
	wide.Args[0].DType = ir.Int64
	if _, err := Compile(wide, plain); !errors.Is(err, driver.ErrType) {
		t.Errorf("Compile of int64: %v, want %v", err, driver.ErrType)
	}
	for _, c := range []struct {
		name   string
		kernel *ir.Kernel
		want   string
	}{
		{"result", chain(1<<31, f32), "a result has 2147483648 elements of float32, "},
		{"points", softmax(1<<16, 1<<15, false), "a result has 2147483648 elements of float32, "},
		{"reduced points", greatest(1<<16, 1<<15), "a step goes over 2147483648 points, [65536 32768], "},
		{"position", take(1<<20, 4, 1<<12), "a step over [4 4096] reads a tensor's element 4294971391, "},
		{"padding", dilated(1<<22, 2047), "a tensor is padded to 8585738241 elements along an axis, "},
	} {
		if _, err := Compile(c.kernel, plain); err == nil || !strings.Contains(err.Error(), c.want+limit) {
			t.Errorf("Compile(%s): %v, want an error with %q", c.name, err, c.want+limit)
		}
	}
}

// A kernel without points has no pass, one without reduced points its stores.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel *ir.Kernel
		passes int
	}{
		{"map", chain(0, f32), 0},
		{"no rows", softmax(0, 6, false), 0},
		{"rows of nothing", total(0), 1},
		{"no depth", dense(1, 4, 4, 0, f32, false), 1},
		{"scatter of nothing", scatterAdd(3, 0, 4, f32), 2},
		{"scatter to nothing", scatterAdd(0, 3, 4, f32), 2},
		{"scatter of nothing to nothing", scatterAdd(0, 0, 4, f32), 0},
	} {
		for _, target := range []Target{plain, big, software} {
			if n := len(compile(t, c.kernel, target).Passes); n != c.passes {
				t.Errorf("%s has %d passes, want %d", c.name, n, c.passes)
			}
		}
	}
}

var sharedArray = regexp.MustCompile(`var<workgroup> \w+: array<([^,]+(?:<[^>]+>)?), (\d+)>;`)

// sharedBytes is the memory that a shader's workgroups share.
func sharedBytes(t *testing.T, source string) int {
	sizes := map[string]int{"f32": 4, "i32": 4, "u32": 4, "vec2<u32>": 8, "vec4<f32>": 16, "vec4<i32>": 16, "vec4<u32>": 16}
	sum := 0
	for _, m := range sharedArray.FindAllStringSubmatch(source, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil || sizes[m[1]] == 0 {
			t.Fatalf("the size of %s is unknown", m[0])
		}
		sum += n * sizes[m[1]]
	}
	if want := strings.Count(source, "var<workgroup>"); len(sharedArray.FindAllString(source, -1)) != want {
		t.Fatalf("%d shared arrays are understood of %d", len(sharedArray.FindAllString(source, -1)), want)
	}
	return sum
}

// No kernel shares more memory than a workgroup has, however many reductions
// it has and however long the rows are.
func TestSharedMemory(t *testing.T) {
	for _, rows := range []int{1, 256, 20_000} {
		for _, cols := range []int{100, 1000, 8192, 16384, 100_000} {
			for _, reductions := range []int{2, 6, 9, 10, 12, 16} {
				for _, positions := range []bool{false, true} {
					k := powers(rows, cols, reductions, positions)
					for _, bytes := range []int{16 << 10, 32 << 10} {
						for _, sub := range []int{0, 4, 8, 32} {
							for _, threads := range []int{256, 1024} {
								target := Target{MaxInvocations: threads, WorkgroupBytes: bytes, SubgroupMin: sub, SubgroupMax: sub, Units: 128}
								for _, q := range compile(t, k, target).Passes {
									if n := sharedBytes(t, q.Source); n > bytes {
										t.Errorf("Compile(%d×%d, %d reductions, positions: %v, %+v) shares %d bytes, want at most %d", rows, cols, reductions, positions, target, n, bytes)
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// Products with a vector keep a large GPU busy, and workgroups keep to what it
// has, whichever way the matrix lies.
func TestVectors(t *testing.T) {
	for _, c := range []struct{ batches, m, n, k int }{
		{1, 1, 4096, 4096}, {1, 4096, 1, 4096}, {1, 4, 4096, 4096}, {1, 1, 1000, 1 << 16}, {1, 1, 64, 1 << 20},
		{1, 1, 1, 1 << 22}, {16, 1, 1024, 1024}, {1, 1, 50257, 768}, {1, 1001, 3, 4099},
	} {
		for _, flipped := range []bool{false, true} {
			for _, target := range []Target{big, {MaxInvocations: 256, WorkgroupBytes: 16384, Units: 132}} {
				p := compile(t, dense(c.batches, c.m, c.n, c.k, f32, flipped), target)
				q := &p.Passes[0]
				size := 0
				if _, err := fmt.Sscanf(q.Source[strings.Index(q.Source, "@workgroup_size"):], "@workgroup_size(%d)", &size); err != nil {
					t.Fatal(err)
				}
				if threads := q.Groups[0] * q.Groups[1] * size; threads < 1<<15 || size > target.MaxInvocations {
					t.Errorf("Compile(%+v, transposed: %v, %+v): %v workgroups of %d threads, want at least %d threads", c, flipped, target, q.Groups, size, 1<<15)
				}
				if n := sharedBytes(t, q.Source); n > target.WorkgroupBytes {
					t.Errorf("Compile(%+v, transposed: %v, %+v) shares %d bytes, want at most %d", c, flipped, target, n, target.WorkgroupBytes)
				}
			}
		}
	}
}

// Grids stay within the limits.
func TestFold(t *testing.T) {
	for _, n := range []int{1, 65535, 65536, 1 << 20, 1<<23 + 7} {
		c := &compiler{t: Target{}.withDefaults()}
		grid, width := c.fold(n)
		if c.err != nil || grid[0] > 65535 || grid[1] > 65535 || grid[0] != width || grid[0]*grid[1] < n || grid[0]*grid[1] > n+grid[1] {
			t.Errorf("fold(%d) = %v, %d, %v", n, grid, width, c.err)
		}
	}
}
