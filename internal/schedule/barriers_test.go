package schedule

import (
	bytes "encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// arguments are buffers for a kernel of numbers, without indices.
func arguments(k *ir.Kernel) []simt.Arg {
	args := make([]simt.Arg, len(k.Args))
	for i, r := range shape.Reaches(k) {
		d := k.Args[i].DType
		for n := range max(r.Hi, k.Args[i].Len) {
			x := math.Float32bits(float32(n%7) / 8)
			if d == ir.Float32 {
				args[i].Data = bytes.LittleEndian.AppendUint32(args[i].Data, x)
			} else {
				args[i].Data = append(args[i].Data, make([]byte, d.Size())...)
			}
		}
	}
	return args
}

// blocks calls f for a block and those inside it.
func blocks(b *shader.Block, f func(b *shader.Block)) {
	if b == nil {
		return
	}
	f(b)
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *shader.If:
			blocks(s.Then, f)
			blocks(s.Else, f)
		case *shader.For:
			blocks(s.Body, f)
		case *shader.Nested:
			blocks(s.Body, f)
		}
	}
}

// withoutEach calls f for each barrier of a program, which lacks it meanwhile.
func withoutEach(p *shader.Program, f func()) {
	for _, q := range p.Passes {
		blocks(q.Body, func(b *shader.Block) {
			all := b.Stmts
			for i, s := range all {
				if _, ok := s.(*shader.Barrier); ok {
					b.Stmts = slices.Delete(slices.Clone(all), i, i+1)
					f()
				}
			}
			b.Stmts = all
		})
	}
}

// Without one of its barriers a program has a race, which package simt finds:
// all are needed.
func TestBarriers(t *testing.T) {
	apple := Target{MaxThreads: 1024, SharedBytes: 32 << 10, SubgroupMin: 16, SubgroupMax: 16}
	for i, c := range []struct {
		name   string
		kernel *ir.Kernel
		target Target
	}{
		{"softmax", softmax(4, 1000, false), plain},
		{"softmax by subgroups", softmax(4, 1000, false), apple},
		{"softmax of columns", softmax(40, 1000, true), big},
		{"sums of tall columns", columnSums(70, 2000), big},
		{"total", total(1 << 17), big},
		{"reductions in batches", powers(3, 5000, 6, true), tight},
		{"product", dense(1, 70, 70, 40, f32, false), plain},
		{"product along the depth", dense(1, 70, 70, 40, f32, true), big},
		{"split product", dense(1, 16, 100, 4096, f32, false), big},
		{"vector", dense(1, 1, 100, 333, f32, false), plain},
		{"product of floats in shared memory", dense(1, 64, 64, 128, f32, false), hopper},
		{"product of floats by turns", dense(1, 128, 64, 512, f32, false), hopper},
		{"three vectors", dense(1, 3, 100, 333, f32, true), big},
	} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		p := compile(t, c.kernel, c.target)
		args := arguments(c.kernel)
		if err := simt.Compile(p).Run(args); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		n := 0
		withoutEach(p, func() {
			n++
			if err := simt.Compile(p).Run(args); err == nil || !strings.Contains(err.Error(), "with no barrier between") {
				t.Errorf("%s without barrier %d: got %v, want a race", c.name, n, err)
			}
		})
		if n == 0 {
			t.Errorf("%s has no barrier", c.name)
		}
	}
}
