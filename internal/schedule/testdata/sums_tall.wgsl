// reduce i0:300 i1:4000 reduced
// a0 in float32 aligned
// a1 out float32[300] aligned
// %0 float32{0 1} = Load a0[i0 + 300*i1]
// %1 float32{0} = Sum %0 over {1}
// %2 float32{0} = Store %1 a1[i0]

// Pass 0: groups [38 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
var<workgroup> w0: array<f32, 1024>;

@compute @workgroup_size(1024)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let t = _thread / 8u % 128u;
  let each = _group * 8u + _thread % 8u;
  let row = min(each, 299u);
  let i0 = i32(row);
  var r1 = 0.0f;
  {
    var b = 0u;
    for (; b + 512u <= 4000u; b = b + 512u) {
      let i1 = i32(b + t);
      let v0_0 = a0[i0 + 300 * i1 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1 + _p.o0 + 38400];
      let v0_2 = a0[i0 + 300 * i1 + _p.o0 + 76800];
      let v0_3 = a0[i0 + 300 * i1 + _p.o0 + 115200];
      r1 = r1 + (v0_0 + v0_1 + (v0_2 + v0_3));
    }
    if (b < 4000u) {
      let i1_0 = i32(min(b + t, 4000u - 1u));
      let i1_1 = i32(min(b + t + 128u, 4000u - 1u));
      let i1_2 = i32(min(b + t + 256u, 4000u - 1u));
      let i1_3 = i32(min(b + t + 384u, 4000u - 1u));
      let v0_0 = a0[i0 + 300 * i1_0 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1_1 + _p.o0];
      let v0_2 = a0[i0 + 300 * i1_2 + _p.o0];
      let v0_3 = a0[i0 + 300 * i1_3 + _p.o0];
      r1 = r1 + (select(0.0f, v0_0, b + t < 4000u) + select(0.0f, v0_1, b + t + 128u < 4000u) + (select(0.0f, v0_2, b + t + 256u < 4000u) + select(0.0f, v0_3, b + t + 384u < 4000u)));
    }
  }
  w0[_thread] = r1;
  workgroupBarrier();
  if (t < 64u) {
    w0[_thread] = w0[_thread] + w0[_thread + 512u];
  }
  workgroupBarrier();
  if (t < 32u) {
    w0[_thread] = w0[_thread] + w0[_thread + 256u];
  }
  workgroupBarrier();
  if (t < 16u) {
    w0[_thread] = w0[_thread] + w0[_thread + 128u];
  }
  workgroupBarrier();
  if (t < 8u) {
    w0[_thread] = w0[_thread] + w0[_thread + 64u];
  }
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 32u];
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 16u];
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 8u];
  }
  workgroupBarrier();
  r1 = w0[_thread - t * 8u];
  let v1 = r1;
  if (t == 0u && each < 300u) {
    a1[i0] = v1;
  }
}
