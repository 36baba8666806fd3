//go:build js

package wgpu

import (
	"syscall/js"
	"testing"
	"time"
)

// kernels is the number of dispatches of a plan, of two pipelines in turn.
const kernels = 100

const addOne = `
struct Params { by: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
	if (g.x < arrayLength(&b)) { b[g.x] = a[g.x] + p.by; }
}`

func must[T any](v T, err error) func(b *testing.B) T {
	return func(b *testing.B) T {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

// BenchmarkSubmit encodes and submits a plan: as a stream, and with a call of JavaScript for
// each command. It waits for the GPU outside of the timed part.
func BenchmarkSubmit(b *testing.B) {
	b.Run("stream", func(b *testing.B) {
		d := openFirst(b)
		l := must(d.NewLayout([]bool{false, true}, 256))(b)
		var pipelines [2]Pipeline
		var groups [2]Group
		x, y := must(d.NewBuffer(256, Storage))(b), must(d.NewBuffer(256, Storage))(b)
		numbers := must(d.NewBuffer(256*kernels, Params))(b)
		for i := range pipelines {
			pipelines[i] = must(d.NewPipeline(addOne, l))(b)
			if err := d.Await(pipelines[i]); err != nil {
				b.Fatal(err)
			}
			groups[i] = must(d.NewGroup(l, []Binding{{x, 256}, {y, 256}, {numbers, 256}}))(b)
			x, y = y, x
		}
		var plan []Command
		for i := range kernels {
			plan = append(plan, Command{Pipeline: pipelines[i%2], Group: groups[i%2], Params: true, Offset: uint32(256 * i), Groups: [3]uint32{1, 1, 1}})
		}
		for b.Loop() {
			n := must(d.Submit(plan))(b)
			b.StopTimer()
			if err := d.Wait(n); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		b.ReportMetric(2, "crossings/op")
	})
	b.Run("calls", func(b *testing.B) {
		d := openFirst(b).script.Get("device")
		create := func(what string, o map[string]any) js.Value { return d.Call("create"+what, o) }
		binding := func(k int, kind string, dynamic bool) any {
			return map[string]any{"binding": k, "visibility": 4, "buffer": map[string]any{"type": kind, "hasDynamicOffset": dynamic}}
		}
		bindings := create("BindGroupLayout", map[string]any{"entries": []any{binding(0, "read-only-storage", false), binding(1, "storage", false), binding(2, "uniform", true)}})
		layout := create("PipelineLayout", map[string]any{"bindGroupLayouts": []any{bindings}})
		buffer := func(size, usage int) js.Value { return create("Buffer", map[string]any{"size": size, "usage": usage}) }
		group := func(layout js.Value, buffers ...js.Value) js.Value {
			var entries []any
			for i, v := range buffers {
				entries = append(entries, map[string]any{"binding": i, "resource": map[string]any{"buffer": v, "size": 256}})
			}
			return create("BindGroup", map[string]any{"layout": layout, "entries": entries})
		}
		x, y, params := buffer(256, usageStorage), buffer(256, usageStorage), buffer(256*kernels, usageUniform)
		module := create("ShaderModule", map[string]any{"code": addOne})
		var pipelines, groups [2]js.Value
		for i := range pipelines {
			pipelines[i] = create("ComputePipeline", map[string]any{"layout": layout, "compute": map[string]any{"module": module, "entryPoint": "main"}})
			groups[i] = group(bindings, x, y, params)
			x, y = y, x
		}
		queue := d.Get("queue")
		crossings := 0
		for b.Loop() {
			encoder := d.Call("createCommandEncoder")
			pass := encoder.Call("beginComputePass")
			for i := range kernels {
				pass.Call("setPipeline", pipelines[i%2])
				pass.Call("setBindGroup", 0, groups[i%2], []any{256 * i})
				pass.Call("dispatchWorkgroups", 1, 1, 1)
			}
			pass.Call("end")
			queue.Call("submit", []any{encoder.Call("finish")})
			done := queue.Call("onSubmittedWorkDone")
			crossings = 6 + 3*kernels
			b.StopTimer()
			if _, err := await("Wait", done, time.Minute); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(crossings), "crossings/op")
	})
}

// BenchmarkTransfer writes 16 MiB and reads them, each until it is done.
func BenchmarkTransfer(b *testing.B) {
	const size = 16 << 20
	d := openFirst(b)
	data := make([]byte, size)
	x, r := must(d.NewBuffer(size, Storage))(b), must(d.NewBuffer(size, Readback))(b)
	read := func(n int64) {
		must(d.Submit([]Command{{Src: x, Dst: r, Size: n}}))(b)
		if err := d.Map(r, n); err != nil {
			b.Fatal(err)
		}
		if err := d.Read(r, data[:n]); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("write", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			d.Write(x, 0, data)
			read(4)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			read(size)
		}
	})
	b.Run("read 4 bytes", func(b *testing.B) {
		for b.Loop() {
			read(4)
		}
	})
}
