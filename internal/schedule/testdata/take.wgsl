// pointwise i0:10 i1:64
// a0 status int32
// a1 in float32 aligned
// a2 in int32 aligned
// a3 out float32[640] aligned
// %0 int32{0} = Load a2[i0]
// %1 float32{0 1} = Load a1[i1 + 64*%0 <50; else 0]
// %2 float32{0 1} = Store %1 a3[64*i0 + i1]

// Pass 0: groups [1 1 1], bindings [{Arg:2 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:true}], params [{Arg:2 Offset:true} {Arg:1 Offset:true} {Arg:0 Offset:true}], scratch []

struct _params {
  o2: i32,
  o1: i32,
  o0: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a2: array<i32>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a0: array<atomic<i32>>;
@group(0) @binding(3) var<storage, read_write> a3: array<vec4<f32>>;

var<private> _zero: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let item = _group * 256u + _thread;
  if (item < 160u) {
    let fi1 = item * 4u;
    let i1 = i32(fi1 % 64u);
    let i0 = i32(fi1 / 64u);
    let v0 = a2[i0 + _p.o2];
    var v1_0 = bitcast<f32>(0u | _zero);
    var v1_1 = bitcast<f32>(0u | _zero);
    var v1_2 = bitcast<f32>(0u | _zero);
    var v1_3 = bitcast<f32>(0u | _zero);
    if (u32(v0) < 50u) {
      let _four_v1_0 = a1[u32(i1 + _p.o1 + 64 * v0) >> 2u];
      v1_0 = _four_v1_0.x;
      v1_1 = _four_v1_0.y;
      v1_2 = _four_v1_0.z;
      v1_3 = _four_v1_0.w;
    } else {
      if (atomicLoad(&a0[_p.o0]) <= 0) {
        atomicMin(&a0[_p.o0], i0 + i32(-2147483648));
      }
    }
    a3[u32(64 * i0 + i1) >> 2u] = vec4<f32>(v1_0, v1_1, v1_2, v1_3);
  }
}

// Pass 1: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:false}], params [{Arg:0 Offset:true} {Arg:2 Offset:true}], scratch []

struct _params {
  o0: i32,
  o2: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read_write> a0: array<atomic<i32>>;
@group(0) @binding(1) var<storage, read> a2: array<i32>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let mark = atomicLoad(&a0[_p.o0]);
  if (mark < 0) {
    let point = bitcast<u32>(mark) & 0x7fffffffu;
    let i0 = i32(point);
    var found = false;
    let v0 = a2[i0 + _p.o2];
    if (!found && u32(v0) >= 50u) {
      found = true;
      atomicStore(&a0[_p.o0], 2);
      atomicStore(&a0[_p.o0 + 2], v0);
      atomicStore(&a0[_p.o0 + 3], v0 >> 31u);
      atomicStore(&a0[_p.o0 + 4], i32(point));
    }
  }
}
