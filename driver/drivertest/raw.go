package drivertest

import (
	"errors"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// rawTexts multiplies each element of x by the one of y with the same number, modulo 100, in the languages
// that the suite knows.
var rawTexts = map[string]string{
	"wgsl": `
@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < n) { out[id.x] = x[id.x] * y[id.x % 100]; }
}`,
	"ptx": `
.version 6.0
.target sm_50
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %d<9>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	ld.param.u32 %r2, [n];
	setp.ge.u32 %p1, %r1, %r2;
	@%p1 bra END;
	ld.param.u64 %d1, [x];
	cvta.to.global.u64 %d1, %d1;
	ld.param.u64 %d2, [y];
	cvta.to.global.u64 %d2, %d2;
	ld.param.u64 %d3, [out];
	cvta.to.global.u64 %d3, %d3;
	rem.u32 %r3, %r1, 100;
	mad.wide.u32 %d1, %r1, 4, %d1;
	mad.wide.u32 %d2, %r3, 4, %d2;
	mad.wide.u32 %d3, %r1, 4, %d3;
	ld.global.b32 %r4, [%d1];
	ld.global.b32 %r5, [%d2];
	mul.rn.f32 %r4, %r4, %r5;
	st.global.b32 [%d3], %r4;
END:
	ret;
}`,
}

// rawKernel is the kernel of [rawTexts] for n elements of x.
func rawKernel(text string, n int) *ir.RawKernel {
	in := func(n int) ir.Arg { return ir.Arg{Kind: ir.In, DType: ir.Float32, Len: n} }
	return &ir.RawKernel{
		Name: "product", Text: text, Names: []string{"x", "y", "out"}, Threads: 64, Grid: [3]int{ir.CeilDiv(n, 64), 1, 1},
		Args: []ir.Arg{in(n), in(100), {Kind: ir.Out, DType: ir.Float32, Len: n}, {Kind: ir.Value, DType: ir.Uint32}},
	}
}

// raw runs kernels of users, and some that are refused.
func (s *suite) raw() {
	drv, ok := s.drv.(driver.RawCompiler)
	if !ok {
		s.Skipf("%s runs no kernels of users", s.drv.Name())
	}
	text := rawTexts[drv.Language()]
	if text == "" {
		s.Fatalf("drivertest has no kernel in %q: add one to rawTexts", drv.Language())
	}
	y := make([]ir.Number, 100)
	for i := range y {
		y[i] = ir.Float(ir.Float32, float64(i))
	}
	// run runs a kernel for n elements of x, in a buffer of so many bytes.
	run := func(k *ir.RawKernel, n, bytes int) (out driver.Buffer, want []byte, err error) {
		x, product := s.small(n), make([]ir.Number, n)
		for i := range x {
			product[i] = ir.Float(ir.Float32, x[i].Float64(ir.Float32)*float64(i%100))
		}
		if out, err = drv.Alloc(4 * n); err != nil {
			return nil, nil, err
		}
		p, err := drv.CompileRaw(k)
		if err == nil {
			args := []driver.Arg{{Buffer: s.uploaded(encode(ir.Float32, x)[:bytes])}, {Buffer: s.uploaded(encode(ir.Float32, y))}, {Buffer: out}, {Num: ir.Number(n)}}
			err = drv.Run([]driver.Call{{Program: p, Args: args}})
		}
		return out, encode(ir.Float32, product), err
	}
	for _, n := range []int{1, 100, 5000} {
		for range 3 { // devices may replay calls
			out, want, err := run(rawKernel(text, n), n, 4*n)
			if err != nil {
				s.Fatalf("%d elements: %v", n, err)
			}
			s.contains("a user's kernel", out, want)
		}
	}
	if _, _, err := run(rawKernel(text, 100), 100, 396); err == nil {
		s.Error("a buffer of 99 elements for an operand of 100: no error")
	}
	for name, bad := range map[string]*ir.RawKernel{
		"a text with a fault": rawKernel(strings.Replace(text, "100", "faulty(100)", 1), 100),
		"an empty text":       rawKernel("", 100),
		"a huge workgroup":    {Names: rawKernel("", 1).Names, Args: rawKernel("", 1).Args, Text: text, Threads: 1 << 20, Grid: [3]int{1, 1, 1}},
		"a huge grid":         {Names: rawKernel("", 1).Names, Args: rawKernel("", 1).Args, Text: text, Threads: 1, Grid: [3]int{1, 1 << 20, 1}},
	} {
		if _, _, err := run(bad, 100, 400); !errors.Is(err, driver.ErrSource) {
			s.Errorf("%s: error %v, want driver.ErrSource", name, err)
		}
	}
	out, want, err := run(rawKernel(text, 100), 100, 400)
	if err != nil {
		s.Fatalf("after errors: %v", err)
	}
	s.contains("a user's kernel after errors", out, want)
}
