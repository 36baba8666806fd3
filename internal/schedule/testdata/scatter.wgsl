// routine scatter i0:400 i1:64
// a0 out float32[64000] aligned
// a1 in float32 aligned
// a2 in int32 aligned
// a3 in float32 aligned
// a4 status int32
// %0 int32{0} = Load a2[i0]
// %1 float32{0 1} = Load a3[64*i0 + i1]
// %2 float32{0 1} = Scatter Add %1 a0[i1 + 64*%0 <1000]

// Pass 0: groups [63 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:1 Offset:true}], scratch []

struct _params {
  o1: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a0: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 16000u) {
    let i0 = i32(item * 4u);
    let _four_v0_0 = a1[u32(i0 + _p.o1) >> 2u];
    let v0_0 = _four_v0_0.x;
    let v0_1 = _four_v0_0.y;
    let v0_2 = _four_v0_0.z;
    let v0_3 = _four_v0_0.w;
    a0[u32(i0) >> 2u] = vec4<f32>(v0_0, v0_1, v0_2, v0_3);
  }
}

// Pass 1: groups [63 1 1], bindings [{Arg:2 Scratch:0 Write:false} {Arg:4 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:2 Offset:true} {Arg:4 Offset:true} {Arg:3 Offset:true}], scratch []

struct _params {
  o2: i32,
  o4: i32,
  o3: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a2: array<i32>;
@group(0) @binding(1) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read> a3: array<f32>;
@group(0) @binding(3) var<storage, read_write> a0: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 16000u) {
    let column = item % 64u;
    let row = item / 64u % 250u * 4u;
    let i1 = i32(column);
    let last = 400u;
    for (var u = 0u; u < last; u = u + 8u) {
      let i0_0 = i32(min(u, last - 1u));
      let i0_1 = i32(min(u + 1u, last - 1u));
      let i0_2 = i32(min(u + 2u, last - 1u));
      let i0_3 = i32(min(u + 3u, last - 1u));
      let i0_4 = i32(min(u + 4u, last - 1u));
      let i0_5 = i32(min(u + 5u, last - 1u));
      let i0_6 = i32(min(u + 6u, last - 1u));
      let i0_7 = i32(min(u + 7u, last - 1u));
      let v0_0 = a2[i0_0 + _p.o2];
      let v0_1 = a2[i0_1 + _p.o2];
      let v0_2 = a2[i0_2 + _p.o2];
      let v0_3 = a2[i0_3 + _p.o2];
      let v0_4 = a2[i0_4 + _p.o2];
      let v0_5 = a2[i0_5 + _p.o2];
      let v0_6 = a2[i0_6 + _p.o2];
      let v0_7 = a2[i0_7 + _p.o2];
      if (max(max(max(max(max(max(max(u32(v0_0), u32(v0_1)), u32(v0_2)), u32(v0_3)), u32(v0_4)), u32(v0_5)), u32(v0_6)), u32(v0_7)) >= 1000u) {
        if (u32(v0_0) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_0 + i32(-2147483648));
          }
        }
        if (u32(v0_1) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_1 + i32(-2147483648));
          }
        }
        if (u32(v0_2) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_2 + i32(-2147483648));
          }
        }
        if (u32(v0_3) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_3 + i32(-2147483648));
          }
        }
        if (u32(v0_4) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_4 + i32(-2147483648));
          }
        }
        if (u32(v0_5) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_5 + i32(-2147483648));
          }
        }
        if (u32(v0_6) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_6 + i32(-2147483648));
          }
        }
        if (u32(v0_7) >= 1000u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_7 + i32(-2147483648));
          }
        }
      }
      if (u32(v0_0) >= row && u32(v0_0) < min(row + 4u, 1000u) && u < last) {
        let v1 = a3[64 * i0_0 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_0];
        let sum = old + v1;
        a0[i1 + 64 * v0_0] = sum;
      }
      if (u32(v0_1) >= row && u32(v0_1) < min(row + 4u, 1000u) && u + 1u < last) {
        let v1 = a3[64 * i0_1 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_1];
        let sum = old + v1;
        a0[i1 + 64 * v0_1] = sum;
      }
      if (u32(v0_2) >= row && u32(v0_2) < min(row + 4u, 1000u) && u + 2u < last) {
        let v1 = a3[64 * i0_2 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_2];
        let sum = old + v1;
        a0[i1 + 64 * v0_2] = sum;
      }
      if (u32(v0_3) >= row && u32(v0_3) < min(row + 4u, 1000u) && u + 3u < last) {
        let v1 = a3[64 * i0_3 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_3];
        let sum = old + v1;
        a0[i1 + 64 * v0_3] = sum;
      }
      if (u32(v0_4) >= row && u32(v0_4) < min(row + 4u, 1000u) && u + 4u < last) {
        let v1 = a3[64 * i0_4 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_4];
        let sum = old + v1;
        a0[i1 + 64 * v0_4] = sum;
      }
      if (u32(v0_5) >= row && u32(v0_5) < min(row + 4u, 1000u) && u + 5u < last) {
        let v1 = a3[64 * i0_5 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_5];
        let sum = old + v1;
        a0[i1 + 64 * v0_5] = sum;
      }
      if (u32(v0_6) >= row && u32(v0_6) < min(row + 4u, 1000u) && u + 6u < last) {
        let v1 = a3[64 * i0_6 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_6];
        let sum = old + v1;
        a0[i1 + 64 * v0_6] = sum;
      }
      if (u32(v0_7) >= row && u32(v0_7) < min(row + 4u, 1000u) && u + 7u < last) {
        let v1 = a3[64 * i0_7 + i1 + _p.o3];
        let old = a0[i1 + 64 * v0_7];
        let sum = old + v1;
        a0[i1 + 64 * v0_7] = sum;
      }
    }
  }
}

// Pass 2: groups [1 1 1], bindings [{Arg:4 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:false}], params [{Arg:4 Offset:true} {Arg:2 Offset:true}], scratch []

struct _params {
  o4: i32,
  o2: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(1) var<storage, read> a2: array<i32>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let mark = atomicLoad(&a4[_p.o4]);
  if (mark < 0) {
    let point = bitcast<u32>(mark) & 0x7fffffffu;
    let i0 = i32(point);
    var found = false;
    let v0 = a2[i0 + _p.o2];
    if (!found && u32(v0) >= 1000u) {
      found = true;
      atomicStore(&a4[_p.o4], 3);
      atomicStore(&a4[_p.o4 + 2], v0);
      atomicStore(&a4[_p.o4 + 3], v0 >> 31u);
      atomicStore(&a4[_p.o4 + 4], i32(point));
    }
  }
}
