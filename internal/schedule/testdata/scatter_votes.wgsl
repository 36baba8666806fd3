// routine scatter i0:500 i1:200
// a0 out float32[60000] aligned
// a1 in float32 aligned
// a2 in int32 aligned
// a3 in float32 aligned
// a4 status int32
// %0 int32{0} = Load a2[i0]
// %1 float32{0 1} = Load a3[200*i0 + i1]
// %2 float32{0 1} = Scatter Add %1 a0[i1 + 200*%0 <300]

// Pass 0: groups [59 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:1 Offset:true}], scratch [480000]

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
  if (item < 15000u) {
    let i0 = i32(item * 4u);
    let _four_v0_0 = a1[u32(i0 + _p.o1) >> 2u];
    let v0_0 = _four_v0_0.x;
    let v0_1 = _four_v0_0.y;
    let v0_2 = _four_v0_0.z;
    let v0_3 = _four_v0_0.w;
    a0[u32(i0) >> 2u] = vec4<f32>(v0_0, v0_1, v0_2, v0_3);
  }
}

// Pass 1: groups [600 1 1], bindings [{Arg:2 Scratch:0 Write:false} {Arg:4 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:2 Offset:true} {Arg:4 Offset:true} {Arg:3 Offset:true}], scratch [480000]

enable subgroups;

struct _params {
  o2: i32,
  o4: i32,
  o3: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a2: array<i32>;
@group(0) @binding(1) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read> a3: array<f32>;
@group(0) @binding(3) var<storage, read_write> s0: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let job = _group;
  let row = job / 1u % 300u;
  let column = job % 1u * 256u + _thread;
  let i1 = i32(min(column, 200u - 1u));
  let segment = job / 300u;
  var acc = 0.0f;
  let last = min(segment * 250u + 250u, 500u);
  for (var u = segment * 250u; u < last; u = u + 128u) {
    let at_0 = u + _thread % 32u;
    let i0_0 = i32(min(at_0, last - 1u));
    let v0_0 = a2[i0_0 + _p.o2];
    if (u32(v0_0) >= 300u) {
      if (u32(v0_0) >= 300u) {
        if (atomicLoad(&a4[_p.o4]) <= 0) {
          atomicMin(&a4[_p.o4], i0_0 + i32(-2147483648));
        }
      }
    }
    var mask_0 = select(0u, 0x80000000u >> (_thread % 32u), at_0 < last && u32(v0_0) == row);
    mask_0 = mask_0 | subgroupShuffleXor(mask_0, 1u);
    mask_0 = mask_0 | subgroupShuffleXor(mask_0, 2u);
    mask_0 = mask_0 | subgroupShuffleXor(mask_0, 4u);
    mask_0 = mask_0 | subgroupShuffleXor(mask_0, 8u);
    mask_0 = mask_0 | subgroupShuffleXor(mask_0, 16u);
    let at_1 = u + 32u + _thread % 32u;
    let i0_1 = i32(min(at_1, last - 1u));
    let v0_1 = a2[i0_1 + _p.o2];
    if (u32(v0_1) >= 300u) {
      if (u32(v0_1) >= 300u) {
        if (atomicLoad(&a4[_p.o4]) <= 0) {
          atomicMin(&a4[_p.o4], i0_1 + i32(-2147483648));
        }
      }
    }
    var mask_1 = select(0u, 0x80000000u >> (_thread % 32u), at_1 < last && u32(v0_1) == row);
    mask_1 = mask_1 | subgroupShuffleXor(mask_1, 1u);
    mask_1 = mask_1 | subgroupShuffleXor(mask_1, 2u);
    mask_1 = mask_1 | subgroupShuffleXor(mask_1, 4u);
    mask_1 = mask_1 | subgroupShuffleXor(mask_1, 8u);
    mask_1 = mask_1 | subgroupShuffleXor(mask_1, 16u);
    let at_2 = u + 64u + _thread % 32u;
    let i0_2 = i32(min(at_2, last - 1u));
    let v0_2 = a2[i0_2 + _p.o2];
    if (u32(v0_2) >= 300u) {
      if (u32(v0_2) >= 300u) {
        if (atomicLoad(&a4[_p.o4]) <= 0) {
          atomicMin(&a4[_p.o4], i0_2 + i32(-2147483648));
        }
      }
    }
    var mask_2 = select(0u, 0x80000000u >> (_thread % 32u), at_2 < last && u32(v0_2) == row);
    mask_2 = mask_2 | subgroupShuffleXor(mask_2, 1u);
    mask_2 = mask_2 | subgroupShuffleXor(mask_2, 2u);
    mask_2 = mask_2 | subgroupShuffleXor(mask_2, 4u);
    mask_2 = mask_2 | subgroupShuffleXor(mask_2, 8u);
    mask_2 = mask_2 | subgroupShuffleXor(mask_2, 16u);
    let at_3 = u + 96u + _thread % 32u;
    let i0_3 = i32(min(at_3, last - 1u));
    let v0_3 = a2[i0_3 + _p.o2];
    if (u32(v0_3) >= 300u) {
      if (u32(v0_3) >= 300u) {
        if (atomicLoad(&a4[_p.o4]) <= 0) {
          atomicMin(&a4[_p.o4], i0_3 + i32(-2147483648));
        }
      }
    }
    var mask_3 = select(0u, 0x80000000u >> (_thread % 32u), at_3 < last && u32(v0_3) == row);
    mask_3 = mask_3 | subgroupShuffleXor(mask_3, 1u);
    mask_3 = mask_3 | subgroupShuffleXor(mask_3, 2u);
    mask_3 = mask_3 | subgroupShuffleXor(mask_3, 4u);
    mask_3 = mask_3 | subgroupShuffleXor(mask_3, 8u);
    mask_3 = mask_3 | subgroupShuffleXor(mask_3, 16u);
    for (; mask_0 != 0u; ) {
      let place0 = countLeadingZeros(mask_0);
      let found0 = mask_0 != 0u;
      mask_0 = mask_0 & ((0x80000000u >> (place0 & 31u)) ^ 0xffffffffu);
      let i0_0 = i32(min(u + place0, last - 1u));
      let v1_0 = a3[200 * i0_0 + i1 + _p.o3];
      let place1 = countLeadingZeros(mask_0);
      let found1 = mask_0 != 0u;
      mask_0 = mask_0 & ((0x80000000u >> (place1 & 31u)) ^ 0xffffffffu);
      let i0_1 = i32(min(u + place1, last - 1u));
      let v1_1 = a3[200 * i0_1 + i1 + _p.o3];
      let place2 = countLeadingZeros(mask_0);
      let found2 = mask_0 != 0u;
      mask_0 = mask_0 & ((0x80000000u >> (place2 & 31u)) ^ 0xffffffffu);
      let i0_2 = i32(min(u + place2, last - 1u));
      let v1_2 = a3[200 * i0_2 + i1 + _p.o3];
      let place3 = countLeadingZeros(mask_0);
      let found3 = mask_0 != 0u;
      mask_0 = mask_0 & ((0x80000000u >> (place3 & 31u)) ^ 0xffffffffu);
      let i0_3 = i32(min(u + place3, last - 1u));
      let v1_3 = a3[200 * i0_3 + i1 + _p.o3];
      acc = select(acc, acc + v1_0, found0);
      acc = select(acc, acc + v1_1, found1);
      acc = select(acc, acc + v1_2, found2);
      acc = select(acc, acc + v1_3, found3);
    }
    for (; mask_1 != 0u; ) {
      let place0 = countLeadingZeros(mask_1);
      let found0 = mask_1 != 0u;
      mask_1 = mask_1 & ((0x80000000u >> (place0 & 31u)) ^ 0xffffffffu);
      let i0_0 = i32(min(u + 32u + place0, last - 1u));
      let v1_0 = a3[200 * i0_0 + i1 + _p.o3];
      let place1 = countLeadingZeros(mask_1);
      let found1 = mask_1 != 0u;
      mask_1 = mask_1 & ((0x80000000u >> (place1 & 31u)) ^ 0xffffffffu);
      let i0_1 = i32(min(u + 32u + place1, last - 1u));
      let v1_1 = a3[200 * i0_1 + i1 + _p.o3];
      let place2 = countLeadingZeros(mask_1);
      let found2 = mask_1 != 0u;
      mask_1 = mask_1 & ((0x80000000u >> (place2 & 31u)) ^ 0xffffffffu);
      let i0_2 = i32(min(u + 32u + place2, last - 1u));
      let v1_2 = a3[200 * i0_2 + i1 + _p.o3];
      let place3 = countLeadingZeros(mask_1);
      let found3 = mask_1 != 0u;
      mask_1 = mask_1 & ((0x80000000u >> (place3 & 31u)) ^ 0xffffffffu);
      let i0_3 = i32(min(u + 32u + place3, last - 1u));
      let v1_3 = a3[200 * i0_3 + i1 + _p.o3];
      acc = select(acc, acc + v1_0, found0);
      acc = select(acc, acc + v1_1, found1);
      acc = select(acc, acc + v1_2, found2);
      acc = select(acc, acc + v1_3, found3);
    }
    for (; mask_2 != 0u; ) {
      let place0 = countLeadingZeros(mask_2);
      let found0 = mask_2 != 0u;
      mask_2 = mask_2 & ((0x80000000u >> (place0 & 31u)) ^ 0xffffffffu);
      let i0_0 = i32(min(u + 64u + place0, last - 1u));
      let v1_0 = a3[200 * i0_0 + i1 + _p.o3];
      let place1 = countLeadingZeros(mask_2);
      let found1 = mask_2 != 0u;
      mask_2 = mask_2 & ((0x80000000u >> (place1 & 31u)) ^ 0xffffffffu);
      let i0_1 = i32(min(u + 64u + place1, last - 1u));
      let v1_1 = a3[200 * i0_1 + i1 + _p.o3];
      let place2 = countLeadingZeros(mask_2);
      let found2 = mask_2 != 0u;
      mask_2 = mask_2 & ((0x80000000u >> (place2 & 31u)) ^ 0xffffffffu);
      let i0_2 = i32(min(u + 64u + place2, last - 1u));
      let v1_2 = a3[200 * i0_2 + i1 + _p.o3];
      let place3 = countLeadingZeros(mask_2);
      let found3 = mask_2 != 0u;
      mask_2 = mask_2 & ((0x80000000u >> (place3 & 31u)) ^ 0xffffffffu);
      let i0_3 = i32(min(u + 64u + place3, last - 1u));
      let v1_3 = a3[200 * i0_3 + i1 + _p.o3];
      acc = select(acc, acc + v1_0, found0);
      acc = select(acc, acc + v1_1, found1);
      acc = select(acc, acc + v1_2, found2);
      acc = select(acc, acc + v1_3, found3);
    }
    for (; mask_3 != 0u; ) {
      let place0 = countLeadingZeros(mask_3);
      let found0 = mask_3 != 0u;
      mask_3 = mask_3 & ((0x80000000u >> (place0 & 31u)) ^ 0xffffffffu);
      let i0_0 = i32(min(u + 96u + place0, last - 1u));
      let v1_0 = a3[200 * i0_0 + i1 + _p.o3];
      let place1 = countLeadingZeros(mask_3);
      let found1 = mask_3 != 0u;
      mask_3 = mask_3 & ((0x80000000u >> (place1 & 31u)) ^ 0xffffffffu);
      let i0_1 = i32(min(u + 96u + place1, last - 1u));
      let v1_1 = a3[200 * i0_1 + i1 + _p.o3];
      let place2 = countLeadingZeros(mask_3);
      let found2 = mask_3 != 0u;
      mask_3 = mask_3 & ((0x80000000u >> (place2 & 31u)) ^ 0xffffffffu);
      let i0_2 = i32(min(u + 96u + place2, last - 1u));
      let v1_2 = a3[200 * i0_2 + i1 + _p.o3];
      let place3 = countLeadingZeros(mask_3);
      let found3 = mask_3 != 0u;
      mask_3 = mask_3 & ((0x80000000u >> (place3 & 31u)) ^ 0xffffffffu);
      let i0_3 = i32(min(u + 96u + place3, last - 1u));
      let v1_3 = a3[200 * i0_3 + i1 + _p.o3];
      acc = select(acc, acc + v1_0, found0);
      acc = select(acc, acc + v1_1, found1);
      acc = select(acc, acc + v1_2, found2);
      acc = select(acc, acc + v1_3, found3);
    }
  }
  if (column < 200u) {
    s0[(job / 300u * 300u + row) * 200u + column] = acc;
  }
}

// Pass 2: groups [235 1 1], bindings [{Arg:0 Scratch:0 Write:true} {Arg:-1 Scratch:0 Write:false}], params [], scratch [480000]

@group(0) @binding(0) var<storage, read_write> a0: array<f32>;
@group(0) @binding(1) var<storage, read> s0: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 60000u) {
    let column = item % 200u;
    let row = item / 200u;
    let i1 = i32(column);
    var acc = a0[i1 + 200 * i32(row)];
    for (var n = 0u; n < 2u; n = n + 1u) {
      let part = s0[n * 60000u + item];
      acc = acc + part;
    }
    a0[i1 + 200 * i32(row)] = acc;
  }
}

// Pass 3: groups [1 1 1], bindings [{Arg:4 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:false}], params [{Arg:4 Offset:true} {Arg:2 Offset:true}], scratch [480000]

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
    if (!found && u32(v0) >= 300u) {
      found = true;
      atomicStore(&a4[_p.o4], 3);
      atomicStore(&a4[_p.o4 + 2], v0);
      atomicStore(&a4[_p.o4 + 3], v0 >> 31u);
      atomicStore(&a4[_p.o4 + 4], i32(point));
    }
  }
}
