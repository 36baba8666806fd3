// special scatter i0:500 i1:64
// a0 out float32[64000] aligned
// a1 in float32 aligned
// a2 in int32 aligned
// a3 in float32 aligned
// a4 status int32
// %0 int32{0} = Load a2[i0]
// %1 float32{0 1} = Load a3[64*i0 + i1]
// %2 float32{0 1} = Scatter Add %1 a0[i1 + 64*%0 <1000]

// Pass 0: groups [63 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:1 Offset:true}], scratch []

struct Params {
  o1: i32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a0: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  let item = group * 256u + thread;
  if (item < 16000u) {
    let i0 = i32(item * 4u);
    let q_v0_0 = a1[u32(i0 + p.o1) >> 2u];
    let v0_0 = q_v0_0.x;
    let v0_1 = q_v0_0.y;
    let v0_2 = q_v0_0.z;
    let v0_3 = q_v0_0.w;
    a0[u32(i0) >> 2u] = vec4<f32>(v0_0, v0_1, v0_2, v0_3);
  }
}

// Pass 1: groups [63 1 1], bindings [{Arg:2 Scratch:0 Write:false} {Arg:4 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:2 Offset:true} {Arg:4 Offset:true} {Arg:3 Offset:true}], scratch []

struct Params {
  o2: i32,
  o4: i32,
  o3: i32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> a2: array<i32>;
@group(0) @binding(1) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read> a3: array<f32>;
@group(0) @binding(3) var<storage, read_write> a0: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  let item = group * 256u + thread;
  if (item < 16000u) {
    let column = item % 64u;
    let row = item / 64u % 250u * 4u;
    let i1 = i32(column);
    for (var u = 0u; u < 500u; u++) {
      let i0 = i32(u);
      let v0 = a2[i0 + p.o2];
      if (u32(v0) >= 1000u) {
        if (atomicLoad(&a4[p.o4]) <= 0) {
          atomicMin(&a4[p.o4], (64 * i0 + i1) + i32(-2147483648));
        }
      }
      if (u32(v0) >= row && u32(v0) < min(row + 4u, 1000u)) {
        let v1 = a3[64 * i0 + i1 + p.o3];
        let old = a0[i1 + 64 * i32(v0)];
        let new_ = old + v1;
        a0[i1 + 64 * i32(v0)] = new_;
      }
    }
  }
}

// Pass 2: groups [1 1 1], bindings [{Arg:4 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:false}], params [{Arg:4 Offset:true} {Arg:2 Offset:true}], scratch []

struct Params {
  o4: i32,
  o2: i32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(1) var<storage, read> a2: array<i32>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  let mark = atomicLoad(&a4[p.o4]);
  if (mark < 0) {
    let point = bitcast<u32>(mark) & 0x7fffffffu;
    let fi1 = point;
    let i1 = i32(fi1 % 64u);
    let i0 = i32(fi1 / 64u);
    var found = false;
    let v0 = a2[i0 + p.o2];
    if (!found && u32(v0) >= 1000u) {
      found = true;
      atomicStore(&a4[p.o4], 3);
      atomicStore(&a4[p.o4 + 1], v0);
    }
  }
}
