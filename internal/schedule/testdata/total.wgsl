// reduce i0:1048576 reduced
// a0 in float32 aligned
// a1 out float32[1] aligned
// a2 out int32[1] aligned
// %0 float32{0} = Load a0[i0]
// %1 float32{} = Sum %0 over {0}
// %2 float32{} = Store %1 a1[0]
// %3 int32{} = ArgMax %0 over {0}
// %4 int32{} = Store %3 a2[0]

// Pass 0: groups [128 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch [1552]

enable subgroups;

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> s0: array<u32>;
var<workgroup> w0: array<f32, 8>;
var<workgroup> w1: array<vec2<u32>, 8>;

fn first_max_u32(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn key_f32(x: f32) -> u32 {
  let b = select(bitcast<u32>(x), 0u, x == 0.0f);
  let k = select(b | 0x80000000u, ~b, b >= 0x80000000u);
  return select(k, 0xffffffffu, is_nan(x));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let t = _thread / 1u % 256u;
  let segment = _group / 1u;
  let each = _group % 1u;
  let row = min(each, 0u);
  let lo = segment * 8192u;
  let hi = min(lo + 8192u, 1048576u);
  var r1 = 0.0f;
  var r3 = vec2<u32>(0u, 0xffffffffu);
  {
    var b = lo;
    for (; b + 4096u <= hi; b = b + 4096u) {
      let i0 = i32(b + t * 4u);
      let _four_v0_0 = a0[u32(i0 + _p.o0) >> 2u];
      let v0_0 = _four_v0_0.x;
      let v0_1 = _four_v0_0.y;
      let v0_2 = _four_v0_0.z;
      let v0_3 = _four_v0_0.w;
      let _four_v0_4 = a0[u32(i0 + _p.o0 + 1024) >> 2u];
      let v0_4 = _four_v0_4.x;
      let v0_5 = _four_v0_4.y;
      let v0_6 = _four_v0_4.z;
      let v0_7 = _four_v0_4.w;
      let _four_v0_8 = a0[u32(i0 + _p.o0 + 2048) >> 2u];
      let v0_8 = _four_v0_8.x;
      let v0_9 = _four_v0_8.y;
      let v0_10 = _four_v0_8.z;
      let v0_11 = _four_v0_8.w;
      let _four_v0_12 = a0[u32(i0 + _p.o0 + 3072) >> 2u];
      let v0_12 = _four_v0_12.x;
      let v0_13 = _four_v0_12.y;
      let v0_14 = _four_v0_12.z;
      let v0_15 = _four_v0_12.w;
      r1 = r1 + (v0_0 + v0_1 + (v0_2 + v0_3) + (v0_4 + v0_5 + (v0_6 + v0_7)) + (v0_8 + v0_9 + (v0_10 + v0_11) + (v0_12 + v0_13 + (v0_14 + v0_15))));
      r3 = first_max_u32(r3, first_max_u32(first_max_u32(first_max_u32(first_max_u32(vec2<u32>(key_f32(v0_0), u32(i0)), vec2<u32>(key_f32(v0_1), u32(i0 + 1))), first_max_u32(vec2<u32>(key_f32(v0_2), u32(i0 + 2)), vec2<u32>(key_f32(v0_3), u32(i0 + 3)))), first_max_u32(first_max_u32(vec2<u32>(key_f32(v0_4), u32(i0 + 1024)), vec2<u32>(key_f32(v0_5), u32(i0 + 1025))), first_max_u32(vec2<u32>(key_f32(v0_6), u32(i0 + 1026)), vec2<u32>(key_f32(v0_7), u32(i0 + 1027))))), first_max_u32(first_max_u32(first_max_u32(vec2<u32>(key_f32(v0_8), u32(i0 + 2048)), vec2<u32>(key_f32(v0_9), u32(i0 + 2049))), first_max_u32(vec2<u32>(key_f32(v0_10), u32(i0 + 2050)), vec2<u32>(key_f32(v0_11), u32(i0 + 2051)))), first_max_u32(first_max_u32(vec2<u32>(key_f32(v0_12), u32(i0 + 3072)), vec2<u32>(key_f32(v0_13), u32(i0 + 3073))), first_max_u32(vec2<u32>(key_f32(v0_14), u32(i0 + 3074)), vec2<u32>(key_f32(v0_15), u32(i0 + 3075)))))));
    }
  }
  r1 = r1 + subgroupShuffleXor(r1, 1u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 1u));
  r1 = r1 + subgroupShuffleXor(r1, 2u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 2u));
  r1 = r1 + subgroupShuffleXor(r1, 4u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 4u));
  r1 = r1 + subgroupShuffleXor(r1, 8u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 8u));
  r1 = r1 + subgroupShuffleXor(r1, 16u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 16u));
  if (_thread % 32u == 0u) {
    w0[_thread / 32u] = r1;
    w1[_thread / 32u] = r3;
  }
  workgroupBarrier();
  r1 = w0[_thread / 256u * 8u + _thread % 8u];
  r3 = w1[_thread / 256u * 8u + _thread % 8u];
  r1 = r1 + subgroupShuffleXor(r1, 1u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 1u));
  r1 = r1 + subgroupShuffleXor(r1, 2u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 2u));
  r1 = r1 + subgroupShuffleXor(r1, 4u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 4u));
  if (t == 0u && segment < 128u) {
    s0[3u + (segment * 1u + row)] = bitcast<u32>(r1);
    s0[131u + 2u * (segment * 1u + row)] = r3.x;
    s0[132u + 2u * (segment * 1u + row)] = r3.y;
  }
}

// Pass 1: groups [1 1 1], bindings [{Arg:-1 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:true}], params [], scratch [1552]

enable subgroups;

@group(0) @binding(0) var<storage, read> s0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
@group(0) @binding(2) var<storage, read_write> a2: array<i32>;
var<workgroup> w0: array<f32, 8>;
var<workgroup> w1: array<vec2<u32>, 8>;

fn first_max_u32(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let t = _thread / 1u % 128u;
  let each = _group * 2u + _thread / 128u;
  let row = min(each, 0u);
  var r1 = 0.0f;
  var r3 = vec2<u32>(0u, 0xffffffffu);
  for (var n = t; n < 128u; n = n + 128u) {
    let k1 = s0[3u + (n * 1u + row)];
    r1 = r1 + bitcast<f32>(k1);
    let k3x = s0[131u + 2u * (n * 1u + row)];
    let k3y = s0[132u + 2u * (n * 1u + row)];
    r3 = first_max_u32(r3, vec2<u32>(k3x, k3y));
  }
  r1 = r1 + subgroupShuffleXor(r1, 1u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 1u));
  r1 = r1 + subgroupShuffleXor(r1, 2u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 2u));
  r1 = r1 + subgroupShuffleXor(r1, 4u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 4u));
  r1 = r1 + subgroupShuffleXor(r1, 8u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 8u));
  r1 = r1 + subgroupShuffleXor(r1, 16u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 16u));
  if (_thread % 32u == 0u) {
    w0[_thread / 32u] = r1;
    w1[_thread / 32u] = r3;
  }
  workgroupBarrier();
  r1 = w0[_thread / 128u * 4u + _thread % 4u];
  r3 = w1[_thread / 128u * 4u + _thread % 4u];
  r1 = r1 + subgroupShuffleXor(r1, 1u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 1u));
  r1 = r1 + subgroupShuffleXor(r1, 2u);
  r3 = first_max_u32(r3, subgroupShuffleXor(r3, 2u));
  let v1 = r1;
  let v3 = i32(select(r3.y, 0u, r3.y == 0xffffffffu));
  if (t == 0u && each < 1u) {
    a1[0] = v1;
  }
  if (t == 0u && each < 1u) {
    a2[0] = v3;
  }
}
