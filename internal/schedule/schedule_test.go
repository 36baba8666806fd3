package schedule

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

func compile(t *testing.T, k *ir.Kernel, target Target) *shader.Program {
	t.Helper()
	if err := ir.Verify(k); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	p, err := Compile(k, target)
	if err != nil {
		t.Fatalf("Compile(%v): %v", k, err)
	}
	if err := simt.Verify(p); err != nil {
		t.Fatalf("Compile(%v): %v", k, err)
	}
	return p
}

// open returns a device that schedules kernels for a target, and runs them on the host.
func open(target Target) *drivertest.Reference {
	return scheduletest.Open(target, func(k *ir.Kernel, t Target) (*shader.Program, func(int, []driver.Arg) int, error) {
		p, err := Compile(k, t)
		s := SignatureOf(k, t)
		return p, s.Base, err
	})
}

// notShort skips a test with -short.
func notShort(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
}

func TestErrors(t *testing.T) {
	for _, d := range ir.DTypes {
		k := chain(8, f32)
		k.Args[0].DType = d
		if _, err := Compile(k, plain); slices.Contains(shader.DTypes, d) != (err == nil) || err != nil && !errors.Is(err, driver.ErrType) {
			t.Errorf("Compile of %v: %v, want %v unless it is one of %v", d, err, driver.ErrType, shader.DTypes)
		}
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
		if _, err := Compile(c.kernel, plain); err == nil || !strings.Contains(err.Error(), c.want+remedy) {
			t.Errorf("Compile(%s): %v, want an error with %q", c.name, err, c.want+remedy)
		}
	}
}

// A kernel without points has no pass. A reduction over no points still stores.
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

// A target on which no GEMV fits multiplies in another way, and a Scatter whose
// positions are not separate keeps no element in a register.
func TestFallsBack(t *testing.T) {
	if n := len(compile(t, dense(1, 1, 100, 333, f32, false), Target{MaxThreads: 16, SharedBytes: 16 << 10}).Passes); n == 0 {
		t.Error("no pass")
	}
	for n := range 3 {
		k := scatterAdd(8, 12, 1, f32)
		k.Axes = []ir.Axis{{Len: 3, Role: ir.Parallel}, {Len: 4, Role: ir.Parallel}}
		for i := range k.Body {
			if v := k.Body[i].View; v != nil {
				v.Coef = []int{1, 1}
			}
			k.Body[i].Domain = k.Varies(i)
		}
		v := k.Body[len(k.Body)-1].View
		v.Stride, v.Len = 8, n
		if err := ir.Verify(k); err != nil {
			t.Fatal(err)
		}
		compile(t, k, big)
	}
}

// sharedBytes is the memory that a pass's workgroups share.
func sharedBytes(p *shader.Pass) int {
	sum := 0
	for _, s := range p.Shared {
		sum += s.Len * s.Type.Bytes()
	}
	return sum
}

// No kernel shares more memory than a workgroup has, however many reductions
// it has and however long the rows are.
func TestSharedMemory(t *testing.T) {
	sizes, reductions := []int{1, 256, 20_000}, []int{2, 6, 9, 10, 12, 16}
	if testing.Short() {
		sizes, reductions = sizes[2:], reductions[4:]
	}
	for _, rows := range sizes {
		for _, cols := range []int{100, 1000, 8192, 16384, 100_000} {
			for _, reductions := range reductions {
				for _, positions := range []bool{false, true} {
					k := powers(rows, cols, reductions, positions)
					for _, bytes := range []int{16 << 10, 32 << 10} {
						for _, sub := range []int{0, 4, 8, 32} {
							for _, threads := range []int{256, 1024} {
								target := Target{MaxThreads: threads, SharedBytes: bytes, SubgroupMin: sub, SubgroupMax: sub, Units: 128}
								for _, q := range compile(t, k, target).Passes {
									if n := sharedBytes(q); n > bytes {
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

// Products with a vector occupy a large GPU, in workgroups within its limits, whether or
// not the matrix is transposed.
func TestVectors(t *testing.T) {
	for _, c := range []struct{ batches, m, n, k int }{
		{1, 1, 4096, 4096}, {1, 4096, 1, 4096}, {1, 4, 4096, 4096}, {1, 1, 1000, 1 << 16}, {1, 1, 64, 1 << 20},
		{1, 1, 1, 1 << 22}, {16, 1, 1024, 1024}, {1, 1, 50257, 768}, {1, 1001, 3, 4099},
	} {
		for _, flipped := range []bool{false, true} {
			for _, target := range []Target{big, {MaxThreads: 256, SharedBytes: 16384, Units: 132}} {
				p := compile(t, dense(c.batches, c.m, c.n, c.k, f32, flipped), target)
				q := p.Passes[0]
				if threads := q.Groups() * q.Threads; threads < 1<<15 || q.Threads > target.MaxThreads {
					t.Errorf("Compile(%+v, transposed: %v, %+v): %v workgroups of %d threads, want at least %d threads", c, flipped, target, q.Grid, q.Threads, 1<<15)
				}
				if n := sharedBytes(q); n > target.SharedBytes {
					t.Errorf("Compile(%+v, transposed: %v, %+v) shares %d bytes, want at most %d", c, flipped, target, n, target.SharedBytes)
				}
			}
		}
	}
}
