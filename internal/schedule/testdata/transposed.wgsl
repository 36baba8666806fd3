// pointwise i0:64 i1:100
// a0 in float32 aligned
// a1 in float32 aligned
// a2 out float32[6400] aligned
// %0 float32{0 1} = Load a0[i0 + 64*i1]
// %1 float32{1} = Load a1[i1]
// %2 float32{0 1} = Add %0 %1
// %3 float32{0 1} = Store %2 a2[100*i0 + i1]

// Pass 0: groups [8 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true}], scratch []

struct _params {
  o0: i32,
  o1: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a2: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let job = _group;
  let outerIndex = job / 8u;
  let readIndex = job / 4u % 2u * 32u + _thread % 32u;
  let innerIndex = job % 4u * 32u + _thread / 32u * 4u;
  let i0 = i32(readIndex);
  let i1 = i32(min(innerIndex, 100u - 4u));
  let v0_0 = a0[i0 + 64 * i1 + _p.o0];
  let v0_1 = a0[i0 + 64 * i1 + _p.o0 + 64];
  let v0_2 = a0[i0 + 64 * i1 + _p.o0 + 128];
  let v0_3 = a0[i0 + 64 * i1 + _p.o0 + 192];
  let _four_v1_0 = a1[u32(i1 + _p.o1) >> 2u];
  let v1_0 = _four_v1_0.x;
  let v1_1 = _four_v1_0.y;
  let v1_2 = _four_v1_0.z;
  let v1_3 = _four_v1_0.w;
  let v2_0 = v0_0 + v1_0;
  let v2_1 = v0_1 + v1_1;
  let v2_2 = v0_2 + v1_2;
  let v2_3 = v0_3 + v1_3;
  if (innerIndex < 100u) {
    a2[u32(100 * i0 + i1) >> 2u] = vec4<f32>(v2_0, v2_1, v2_2, v2_3);
  }
}
