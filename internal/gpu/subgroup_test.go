package gpu

import (
	"encoding/binary"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
)

// placed notes for each of 256 threads, in each of 8 workgroups, its number in
// its subgroup, and the least number of a thread of that subgroup.
var placed = sources{passes: []source{{
	text: `enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32, @builtin(subgroup_invocation_id) lane: u32) {
  out[2u * (id.x * 256u + thread)] = lane;
  out[2u * (id.x * 256u + thread) + 1u] = subgroupMin(thread);
}
`,
	pass: &shader.Pass{
		Buffers: []*shader.Buffer{{Arg: 0, Write: true}},
		Grid:    [3]int{8, 1, 1},
	},
}}}

// Shaders that exchange registers take subgroups to be threads in a row.
// WebGPU does not promise it, adapters do it.
func TestSubgroups(t *testing.T) {
	d := real(t, wgpu.Options{Validate: true})
	size := d.Target.SubgroupMin
	if size == 0 || size != d.Target.SubgroupMax {
		t.Skipf("subgroups of %d to %d threads: no shader relies on them", size, d.Target.SubgroupMax)
	}
	p, err := d.build(&placed, schedule.SignatureOf(&ir.Kernel{Args: []ir.Arg{{Kind: ir.Out, DType: ir.Uint32}}}, d.Target))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4*2*8*256)
	out := alloc(t, d, len(got))
	if err := d.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: out}}}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Download(got, out, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * 256 {
		thread := i % 256
		lane, from := int(binary.LittleEndian.Uint32(got[8*i:])), int(binary.LittleEndian.Uint32(got[8*i+4:]))
		if lane != thread%size || from != thread/size*size {
			t.Fatalf("thread %d is number %d of the subgroup that thread %d begins; with %d threads each it should be %d and %d", thread, lane, from, size, thread%size, thread/size*size)
		}
	}
}
