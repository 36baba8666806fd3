// routine scatter i0:5000 i1:1
// a0 out uint8[10] aligned
// a1 in uint8 aligned
// a2 in int32 aligned
// a3 in uint8 aligned
// a4 status int32
// %0 int32{0} = Load a2[i0]
// %1 uint8{0 1} = Load a3[i0 + i1]
// %2 uint8{0 1} = Scatter Add %1 a0[i1 + %0 <10]

// Pass 0: groups [1 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:true}], params [{Arg:1 Offset:true}], scratch [1568]

struct _params {
  o1: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a1: array<u32>;
@group(0) @binding(1) var<storage, read_write> a0: array<atomic<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 10u) {
    let i0 = i32(item);
    let _at_v0 = u32(i0 + _p.o1);
    let v0 = extractBits(a1[_at_v0 >> 2u], (_at_v0 & 3u) * 8u, 8u);
    {
      let _at = u32(i0);
      let _bit = (_at & 3u) * 8u;
      let _to = &a0[_at >> 2u];
      atomicAnd(_to, ~(255u << _bit));
      atomicOr(_to, v0 << _bit);
    }
  }
}

// Pass 1: groups [2 1 1], bindings [{Arg:2 Scratch:0 Write:false} {Arg:4 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:2 Offset:true} {Arg:4 Offset:true} {Arg:3 Offset:true}], scratch [1568]

struct _params {
  o2: i32,
  o4: i32,
  o3: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a2: array<i32>;
@group(0) @binding(1) var<storage, read_write> a4: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read> a3: array<u32>;
@group(0) @binding(3) var<storage, read_write> s0: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 390u) {
    let column = item % 1u;
    let row = item / 1u % 10u * 1u;
    let segment = item / 10u;
    var acc = 0u;
    let last = min(segment * 129u + 129u, 5000u);
    for (var u = segment * 129u; u < last; u = u + 8u) {
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
      if (max(max(max(max(max(max(max(u32(v0_0), u32(v0_1)), u32(v0_2)), u32(v0_3)), u32(v0_4)), u32(v0_5)), u32(v0_6)), u32(v0_7)) >= 10u) {
        if (u32(v0_0) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_0 + i32(-2147483648));
          }
        }
        if (u32(v0_1) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_1 + i32(-2147483648));
          }
        }
        if (u32(v0_2) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_2 + i32(-2147483648));
          }
        }
        if (u32(v0_3) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_3 + i32(-2147483648));
          }
        }
        if (u32(v0_4) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_4 + i32(-2147483648));
          }
        }
        if (u32(v0_5) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_5 + i32(-2147483648));
          }
        }
        if (u32(v0_6) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_6 + i32(-2147483648));
          }
        }
        if (u32(v0_7) >= 10u) {
          if (atomicLoad(&a4[_p.o4]) <= 0) {
            atomicMin(&a4[_p.o4], i0_7 + i32(-2147483648));
          }
        }
      }
      if (u32(v0_0) == row && u < last) {
        let _at_v1 = u32(i0_0 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_1) == row && u + 1u < last) {
        let _at_v1 = u32(i0_1 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_2) == row && u + 2u < last) {
        let _at_v1 = u32(i0_2 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_3) == row && u + 3u < last) {
        let _at_v1 = u32(i0_3 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_4) == row && u + 4u < last) {
        let _at_v1 = u32(i0_4 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_5) == row && u + 5u < last) {
        let _at_v1 = u32(i0_5 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_6) == row && u + 6u < last) {
        let _at_v1 = u32(i0_6 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
      if (u32(v0_7) == row && u + 7u < last) {
        let _at_v1 = u32(i0_7 + _p.o3);
        let v1 = extractBits(a3[_at_v1 >> 2u], (_at_v1 & 3u) * 8u, 8u);
        acc = (acc + v1) & 255u;
      }
    }
    s0[item] = acc;
  }
}

// Pass 2: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:true} {Arg:-1 Scratch:0 Write:false}], params [], scratch [1568]

@group(0) @binding(0) var<storage, read_write> a0: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read> s0: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  if (item < 10u) {
    let column = item % 1u;
    let row = item / 1u;
    let _at_acc = u32(0 + 1 * i32(row));
    var acc = extractBits(atomicLoad(&a0[_at_acc >> 2u]), (_at_acc & 3u) * 8u, 8u);
    for (var n = 0u; n < 39u; n = n + 1u) {
      let part = s0[n * 10u + item];
      acc = (acc + part) & 255u;
    }
    {
      let _at = u32(0 + 1 * i32(row));
      let _bit = (_at & 3u) * 8u;
      let _to = &a0[_at >> 2u];
      atomicAnd(_to, ~(255u << _bit));
      atomicOr(_to, acc << _bit);
    }
  }
}

// Pass 3: groups [1 1 1], bindings [{Arg:4 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:false}], params [{Arg:4 Offset:true} {Arg:2 Offset:true}], scratch [1568]

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
    if (!found && u32(v0) >= 10u) {
      found = true;
      atomicStore(&a4[_p.o4], 3);
      atomicStore(&a4[_p.o4 + 2], v0);
      atomicStore(&a4[_p.o4 + 3], v0 >> 31u);
      atomicStore(&a4[_p.o4 + 4], i32(point));
    }
  }
}
