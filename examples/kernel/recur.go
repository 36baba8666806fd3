package main

import (
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// A signal is the operands of recur: decays and inputs, both [steps channels].
type signal struct{ Decay, Input tensor.Tensor }

// recur returns h[t] = decay[t]·h[t-1] + input[t] for each channel, from h = 0 on: the recurrence of
// state space models such as Mamba. It may be differentiated any number of times, and batched.
func recur(decay, input tensor.Tensor) tensor.Tensor {
	// With the cotangents g of h, the inputs have the cotangents λ[t] = g[t] +
	// decay[t+1]·λ[t+1]: the recurrence itself, backwards. The decays have the cotangents
	// λ[t]·h[t-1].
	vjp := func(at signal, h, g tensor.Tensor) signal {
		next := at.Decay.Slice(0, 1, h.Dim(0)).Pad(0, 0, 1)
		back := recur(next.Flip(0), g.Flip(0)).Flip(0)
		before := h.Slice(0, 0, h.Dim(0)-1).Pad(0, 1, 0)
		return signal{Decay: back.Mul(before), Input: back}
	}
	return grad.Custom(func(s signal) tensor.Tensor { return kernel(s.Decay, s.Input) }, vjp)(signal{decay, input})
}

// kernel is recur without a derivative. On a GPU each channel has a thread.
func kernel(operands ...tensor.Tensor) tensor.Tensor {
	channels := operands[0].Dim(1)
	text := func(s string) string { return strings.ReplaceAll(s, "CHANNELS", strconv.Itoa(channels)) }
	return tensor.Kernel{
		Name:     "recur",
		Operands: []string{"decay", "input"},
		Go:       recurGo,
		WGSL:     text(recurWGSL),
		PTX:      text(recurPTX),
		Threads:  64,
		Grid:     [3]int{(channels + 63) / 64, 1, 1},
		Batch:    batch,
	}.Call(operands...)
}

func recurGo(out tensor.Array, in []tensor.Array) error {
	h, decay, input := tensor.Elements[float32](out), tensor.Elements[float32](in[0]), tensor.Elements[float32](in[1])
	channels := out.Shape[1]
	for i := range h {
		h[i] = input[i]
		if i >= channels {
			h[i] += decay[i] * h[i-channels]
		}
	}
	return nil
}

const recurWGSL = `
@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= CHANNELS) { return; }
  var h = 0.0;
  for (var i = id.x; i < n; i += CHANNELS) {
    h = decay[i] * h + input[i];
    out[i] = h;
  }
}`

const recurPTX = `
.version 6.0
.target sm_50
.address_size 64

.visible .entry kernel(.param .u64 decay, .param .u64 input, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %d<7>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;     // i: the channel, at first
	setp.ge.u32 %p1, %r1, CHANNELS;
	@%p1 bra END;
	ld.param.u32 %r4, [n];
	ld.param.u64 %d1, [decay];
	ld.param.u64 %d2, [input];
	ld.param.u64 %d3, [out];
	cvta.to.global.u64 %d1, %d1;
	cvta.to.global.u64 %d2, %d2;
	cvta.to.global.u64 %d3, %d3;
	mov.b32 %r5, 0f00000000;           // h
STEP:
	setp.ge.u32 %p2, %r1, %r4;
	@%p2 bra END;
	mad.wide.u32 %d4, %r1, 4, %d1;
	mad.wide.u32 %d5, %r1, 4, %d2;
	mad.wide.u32 %d6, %r1, 4, %d3;
	ld.global.b32 %r6, [%d4];
	ld.global.b32 %r7, [%d5];
	fma.rn.f32 %r5, %r6, %r5, %r7;
	st.global.b32 [%d6], %r5;
	add.u32 %r1, %r1, CHANNELS;
	bra STEP;
END:
	ret;
}`

// batch makes the examples of grad.Vmap, along the first axis of the operands, channels of one kernel.
func batch(operands ...tensor.Tensor) tensor.Tensor {
	shape := operands[0].Shape() // [examples steps channels]
	var flat []tensor.Tensor
	for _, t := range operands {
		flat = append(flat, t.Transpose(0, 1).Reshape(shape[1], shape[0]*shape[2]))
	}
	return kernel(flat...).Reshape(shape[1], shape[0], shape[2]).Transpose(0, 1)
}
