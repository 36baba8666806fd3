// contraction i0:2 batch i1:50 m i2:70 n i3:33 k
// a0 in float16 aligned
// a1 in float16 aligned
// a2 in float16 aligned
// a3 out float16[7000] aligned
// %0 float32{0 1 3} = Load a0[1650*i0 + 33*i1 + i3]
// %1 float32{2 3} = Load a1[33*i2 + i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[3500*i0 + 70*i1 + i2]

// Pass 0: groups [12 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []

struct _params {
  o0: i32,
  o1: i32,
  o2: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read> a1: array<u32>;
@group(0) @binding(2) var<storage, read> a2: array<u32>;
@group(0) @binding(3) var<storage, read_write> a3: array<atomic<u32>>;
var<workgroup> w0: array<vec4<f32>, 288>;
var<workgroup> w1: array<vec4<f32>, 288>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

var<private> _zero: u32;

fn f16_bits(x: f32) -> u32 {
  let b = bitcast<u32>(x);
  let sign = (b >> 16u) & 32768u;
  let a = b & 0x7fffffffu;
  if (a > 0x7f800000u) {
    return sign | 32256u;
  }
  if (a >= 0x477ff000u) {
    return sign | 31744u;
  }
  if (a < 0x38800000u) {
    return sign | (bitcast<u32>(bitcast<f32>(a) + 0.5f) - 0x3f000000u);
  }
  return sign | ((a + 4095u + ((a >> 13u) & 1u) - 0x38000000u) >> 13u);
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(select(max(a, b), bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)), a == b), b, is_nan(b)), a, is_nan(a));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let job = _group;
  let batch = job / 6u % 2u;
  let split = job / 12u;
  let tile = job % 6u;
  let first = tile / 24u * 8u;
  let height = min(2u - first, 8u);
  let m0 = (first + tile % 24u % height) * 32u;
  let n0 = tile % 24u / height * 32u;
  let i0 = i32(batch);
  let ty = _thread / 32u * 4u + (_thread % 2u + _thread / 16u % 2u * 2u);
  let tx = _thread / 32u % 1u * 8u + _thread / 2u % 8u;
  var c0_0 = vec4<f32>();
  var c1_0 = vec4<f32>();
  var c2_0 = vec4<f32>();
  var c3_0 = vec4<f32>();
  let qm0 = _thread % 4u;
  let um0 = _thread / 4u;
  let i1_m00 = i32(min(m0 + um0 * 1u, 50u - 1u));
  let qm1 = (_thread + 64u) % 4u;
  let um1 = (_thread + 64u) / 4u;
  let i1_m10 = i32(min(m0 + um1 * 1u, 50u - 1u));
  let qn0 = _thread % 4u;
  let un0 = _thread / 4u;
  let i2_n00 = i32(min(n0 + un0 * 1u, 70u - 1u));
  let qn1 = (_thread + 64u) % 4u;
  let un1 = (_thread + 64u) / 4u;
  let i2_n10 = i32(min(n0 + un1 * 1u, 70u - 1u));
  let i3_m00_0_0_0 = i32(min(0u * 16u + qm0 * 4u, 33u - 1u));
  let i3_m00_0_0_1 = i32(min(0u * 16u + qm0 * 4u + 1u, 33u - 1u));
  let i3_m00_0_0_2 = i32(min(0u * 16u + qm0 * 4u + 2u, 33u - 1u));
  let i3_m00_0_0_3 = i32(min(0u * 16u + qm0 * 4u + 3u, 33u - 1u));
  let _at_v0_m00_0_0_0 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_0 + _p.o0);
  let v0_m00_0_0_0 = unpack2x16float(a0[_at_v0_m00_0_0_0 >> 1u] >> ((_at_v0_m00_0_0_0 & 1u) * 16u)).x;
  let _at_v0_m00_0_0_1 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_1 + _p.o0);
  let v0_m00_0_0_1 = unpack2x16float(a0[_at_v0_m00_0_0_1 >> 1u] >> ((_at_v0_m00_0_0_1 & 1u) * 16u)).x;
  let _at_v0_m00_0_0_2 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_2 + _p.o0);
  let v0_m00_0_0_2 = unpack2x16float(a0[_at_v0_m00_0_0_2 >> 1u] >> ((_at_v0_m00_0_0_2 & 1u) * 16u)).x;
  let _at_v0_m00_0_0_3 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_3 + _p.o0);
  let v0_m00_0_0_3 = unpack2x16float(a0[_at_v0_m00_0_0_3 >> 1u] >> ((_at_v0_m00_0_0_3 & 1u) * 16u)).x;
  let lm0_0_0 = vec4<f32>(select(0.0f, select(0.0f, v0_m00_0_0_0, m0 + um0 * 1u < 50u), 0u * 16u + qm0 * 4u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_1, m0 + um0 * 1u < 50u), 0u * 16u + qm0 * 4u + 1u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_2, m0 + um0 * 1u < 50u), 0u * 16u + qm0 * 4u + 2u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_3, m0 + um0 * 1u < 50u), 0u * 16u + qm0 * 4u + 3u < 33u));
  let i3_m10_0_0_0 = i32(min(0u * 16u + qm1 * 4u, 33u - 1u));
  let i3_m10_0_0_1 = i32(min(0u * 16u + qm1 * 4u + 1u, 33u - 1u));
  let i3_m10_0_0_2 = i32(min(0u * 16u + qm1 * 4u + 2u, 33u - 1u));
  let i3_m10_0_0_3 = i32(min(0u * 16u + qm1 * 4u + 3u, 33u - 1u));
  let _at_v0_m10_0_0_0 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_0 + _p.o0);
  let v0_m10_0_0_0 = unpack2x16float(a0[_at_v0_m10_0_0_0 >> 1u] >> ((_at_v0_m10_0_0_0 & 1u) * 16u)).x;
  let _at_v0_m10_0_0_1 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_1 + _p.o0);
  let v0_m10_0_0_1 = unpack2x16float(a0[_at_v0_m10_0_0_1 >> 1u] >> ((_at_v0_m10_0_0_1 & 1u) * 16u)).x;
  let _at_v0_m10_0_0_2 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_2 + _p.o0);
  let v0_m10_0_0_2 = unpack2x16float(a0[_at_v0_m10_0_0_2 >> 1u] >> ((_at_v0_m10_0_0_2 & 1u) * 16u)).x;
  let _at_v0_m10_0_0_3 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_3 + _p.o0);
  let v0_m10_0_0_3 = unpack2x16float(a0[_at_v0_m10_0_0_3 >> 1u] >> ((_at_v0_m10_0_0_3 & 1u) * 16u)).x;
  let lm1_0_0 = vec4<f32>(select(0.0f, select(0.0f, v0_m10_0_0_0, m0 + um1 * 1u < 50u), 0u * 16u + qm1 * 4u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_1, m0 + um1 * 1u < 50u), 0u * 16u + qm1 * 4u + 1u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_2, m0 + um1 * 1u < 50u), 0u * 16u + qm1 * 4u + 2u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_3, m0 + um1 * 1u < 50u), 0u * 16u + qm1 * 4u + 3u < 33u));
  let i3_n00_0_0_0 = i32(min(0u * 16u + qn0 * 4u, 33u - 1u));
  let i3_n00_0_0_1 = i32(min(0u * 16u + qn0 * 4u + 1u, 33u - 1u));
  let i3_n00_0_0_2 = i32(min(0u * 16u + qn0 * 4u + 2u, 33u - 1u));
  let i3_n00_0_0_3 = i32(min(0u * 16u + qn0 * 4u + 3u, 33u - 1u));
  let _at_v1_n00_0_0_0 = u32(33 * i2_n00 + i3_n00_0_0_0 + _p.o1);
  let v1_n00_0_0_0 = unpack2x16float(a1[_at_v1_n00_0_0_0 >> 1u] >> ((_at_v1_n00_0_0_0 & 1u) * 16u)).x;
  let _at_v1_n00_0_0_1 = u32(33 * i2_n00 + i3_n00_0_0_1 + _p.o1);
  let v1_n00_0_0_1 = unpack2x16float(a1[_at_v1_n00_0_0_1 >> 1u] >> ((_at_v1_n00_0_0_1 & 1u) * 16u)).x;
  let _at_v1_n00_0_0_2 = u32(33 * i2_n00 + i3_n00_0_0_2 + _p.o1);
  let v1_n00_0_0_2 = unpack2x16float(a1[_at_v1_n00_0_0_2 >> 1u] >> ((_at_v1_n00_0_0_2 & 1u) * 16u)).x;
  let _at_v1_n00_0_0_3 = u32(33 * i2_n00 + i3_n00_0_0_3 + _p.o1);
  let v1_n00_0_0_3 = unpack2x16float(a1[_at_v1_n00_0_0_3 >> 1u] >> ((_at_v1_n00_0_0_3 & 1u) * 16u)).x;
  let ln0_0_0 = vec4<f32>(select(0.0f, select(0.0f, v1_n00_0_0_0, n0 + un0 * 1u < 70u), 0u * 16u + qn0 * 4u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_1, n0 + un0 * 1u < 70u), 0u * 16u + qn0 * 4u + 1u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_2, n0 + un0 * 1u < 70u), 0u * 16u + qn0 * 4u + 2u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_3, n0 + un0 * 1u < 70u), 0u * 16u + qn0 * 4u + 3u < 33u));
  let i3_n10_0_0_0 = i32(min(0u * 16u + qn1 * 4u, 33u - 1u));
  let i3_n10_0_0_1 = i32(min(0u * 16u + qn1 * 4u + 1u, 33u - 1u));
  let i3_n10_0_0_2 = i32(min(0u * 16u + qn1 * 4u + 2u, 33u - 1u));
  let i3_n10_0_0_3 = i32(min(0u * 16u + qn1 * 4u + 3u, 33u - 1u));
  let _at_v1_n10_0_0_0 = u32(33 * i2_n10 + i3_n10_0_0_0 + _p.o1);
  let v1_n10_0_0_0 = unpack2x16float(a1[_at_v1_n10_0_0_0 >> 1u] >> ((_at_v1_n10_0_0_0 & 1u) * 16u)).x;
  let _at_v1_n10_0_0_1 = u32(33 * i2_n10 + i3_n10_0_0_1 + _p.o1);
  let v1_n10_0_0_1 = unpack2x16float(a1[_at_v1_n10_0_0_1 >> 1u] >> ((_at_v1_n10_0_0_1 & 1u) * 16u)).x;
  let _at_v1_n10_0_0_2 = u32(33 * i2_n10 + i3_n10_0_0_2 + _p.o1);
  let v1_n10_0_0_2 = unpack2x16float(a1[_at_v1_n10_0_0_2 >> 1u] >> ((_at_v1_n10_0_0_2 & 1u) * 16u)).x;
  let _at_v1_n10_0_0_3 = u32(33 * i2_n10 + i3_n10_0_0_3 + _p.o1);
  let v1_n10_0_0_3 = unpack2x16float(a1[_at_v1_n10_0_0_3 >> 1u] >> ((_at_v1_n10_0_0_3 & 1u) * 16u)).x;
  let ln1_0_0 = vec4<f32>(select(0.0f, select(0.0f, v1_n10_0_0_0, n0 + un1 * 1u < 70u), 0u * 16u + qn1 * 4u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_1, n0 + un1 * 1u < 70u), 0u * 16u + qn1 * 4u + 1u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_2, n0 + un1 * 1u < 70u), 0u * 16u + qn1 * 4u + 2u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_3, n0 + un1 * 1u < 70u), 0u * 16u + qn1 * 4u + 3u < 33u));
  {
    let at = 0u * 144u + qm0 * 36u + um0 / 4u;
    w0[at + 0u][um0 & 3u] = lm0_0_0.x;
    w0[at + 9u][um0 & 3u] = lm0_0_0.y;
    w0[at + 18u][um0 & 3u] = lm0_0_0.z;
    w0[at + 27u][um0 & 3u] = lm0_0_0.w;
  }
  {
    let at = 0u * 144u + qm1 * 36u + um1 / 4u;
    w0[at + 0u][um1 & 3u] = lm1_0_0.x;
    w0[at + 9u][um1 & 3u] = lm1_0_0.y;
    w0[at + 18u][um1 & 3u] = lm1_0_0.z;
    w0[at + 27u][um1 & 3u] = lm1_0_0.w;
  }
  {
    let at = 0u * 144u + qn0 * 36u + un0 / 4u;
    w1[at + 0u][un0 & 3u] = ln0_0_0.x;
    w1[at + 9u][un0 & 3u] = ln0_0_0.y;
    w1[at + 18u][un0 & 3u] = ln0_0_0.z;
    w1[at + 27u][un0 & 3u] = ln0_0_0.w;
  }
  {
    let at = 0u * 144u + qn1 * 36u + un1 / 4u;
    w1[at + 0u][un1 & 3u] = ln1_0_0.x;
    w1[at + 9u][un1 & 3u] = ln1_0_0.y;
    w1[at + 18u][un1 & 3u] = ln1_0_0.z;
    w1[at + 27u][un1 & 3u] = ln1_0_0.w;
  }
  workgroupBarrier();
  for (var step = 0u; step < 3u; step = step + 1u) {
    let now = (step - 0u) % 2u;
    let next = min(step + 1u, 3u - 1u);
    let i3_m00_0_0_0 = i32(min(next * 16u + qm0 * 4u, 33u - 1u));
    let i3_m00_0_0_1 = i32(min(next * 16u + qm0 * 4u + 1u, 33u - 1u));
    let i3_m00_0_0_2 = i32(min(next * 16u + qm0 * 4u + 2u, 33u - 1u));
    let i3_m00_0_0_3 = i32(min(next * 16u + qm0 * 4u + 3u, 33u - 1u));
    let _at_v0_m00_0_0_0 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_0 + _p.o0);
    let v0_m00_0_0_0 = unpack2x16float(a0[_at_v0_m00_0_0_0 >> 1u] >> ((_at_v0_m00_0_0_0 & 1u) * 16u)).x;
    let _at_v0_m00_0_0_1 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_1 + _p.o0);
    let v0_m00_0_0_1 = unpack2x16float(a0[_at_v0_m00_0_0_1 >> 1u] >> ((_at_v0_m00_0_0_1 & 1u) * 16u)).x;
    let _at_v0_m00_0_0_2 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_2 + _p.o0);
    let v0_m00_0_0_2 = unpack2x16float(a0[_at_v0_m00_0_0_2 >> 1u] >> ((_at_v0_m00_0_0_2 & 1u) * 16u)).x;
    let _at_v0_m00_0_0_3 = u32(1650 * i0 + 33 * i1_m00 + i3_m00_0_0_3 + _p.o0);
    let v0_m00_0_0_3 = unpack2x16float(a0[_at_v0_m00_0_0_3 >> 1u] >> ((_at_v0_m00_0_0_3 & 1u) * 16u)).x;
    let lm0_0_0 = vec4<f32>(select(0.0f, select(0.0f, v0_m00_0_0_0, m0 + um0 * 1u < 50u), next * 16u + qm0 * 4u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_1, m0 + um0 * 1u < 50u), next * 16u + qm0 * 4u + 1u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_2, m0 + um0 * 1u < 50u), next * 16u + qm0 * 4u + 2u < 33u), select(0.0f, select(0.0f, v0_m00_0_0_3, m0 + um0 * 1u < 50u), next * 16u + qm0 * 4u + 3u < 33u));
    let i3_m10_0_0_0 = i32(min(next * 16u + qm1 * 4u, 33u - 1u));
    let i3_m10_0_0_1 = i32(min(next * 16u + qm1 * 4u + 1u, 33u - 1u));
    let i3_m10_0_0_2 = i32(min(next * 16u + qm1 * 4u + 2u, 33u - 1u));
    let i3_m10_0_0_3 = i32(min(next * 16u + qm1 * 4u + 3u, 33u - 1u));
    let _at_v0_m10_0_0_0 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_0 + _p.o0);
    let v0_m10_0_0_0 = unpack2x16float(a0[_at_v0_m10_0_0_0 >> 1u] >> ((_at_v0_m10_0_0_0 & 1u) * 16u)).x;
    let _at_v0_m10_0_0_1 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_1 + _p.o0);
    let v0_m10_0_0_1 = unpack2x16float(a0[_at_v0_m10_0_0_1 >> 1u] >> ((_at_v0_m10_0_0_1 & 1u) * 16u)).x;
    let _at_v0_m10_0_0_2 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_2 + _p.o0);
    let v0_m10_0_0_2 = unpack2x16float(a0[_at_v0_m10_0_0_2 >> 1u] >> ((_at_v0_m10_0_0_2 & 1u) * 16u)).x;
    let _at_v0_m10_0_0_3 = u32(1650 * i0 + 33 * i1_m10 + i3_m10_0_0_3 + _p.o0);
    let v0_m10_0_0_3 = unpack2x16float(a0[_at_v0_m10_0_0_3 >> 1u] >> ((_at_v0_m10_0_0_3 & 1u) * 16u)).x;
    let lm1_0_0 = vec4<f32>(select(0.0f, select(0.0f, v0_m10_0_0_0, m0 + um1 * 1u < 50u), next * 16u + qm1 * 4u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_1, m0 + um1 * 1u < 50u), next * 16u + qm1 * 4u + 1u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_2, m0 + um1 * 1u < 50u), next * 16u + qm1 * 4u + 2u < 33u), select(0.0f, select(0.0f, v0_m10_0_0_3, m0 + um1 * 1u < 50u), next * 16u + qm1 * 4u + 3u < 33u));
    let i3_n00_0_0_0 = i32(min(next * 16u + qn0 * 4u, 33u - 1u));
    let i3_n00_0_0_1 = i32(min(next * 16u + qn0 * 4u + 1u, 33u - 1u));
    let i3_n00_0_0_2 = i32(min(next * 16u + qn0 * 4u + 2u, 33u - 1u));
    let i3_n00_0_0_3 = i32(min(next * 16u + qn0 * 4u + 3u, 33u - 1u));
    let _at_v1_n00_0_0_0 = u32(33 * i2_n00 + i3_n00_0_0_0 + _p.o1);
    let v1_n00_0_0_0 = unpack2x16float(a1[_at_v1_n00_0_0_0 >> 1u] >> ((_at_v1_n00_0_0_0 & 1u) * 16u)).x;
    let _at_v1_n00_0_0_1 = u32(33 * i2_n00 + i3_n00_0_0_1 + _p.o1);
    let v1_n00_0_0_1 = unpack2x16float(a1[_at_v1_n00_0_0_1 >> 1u] >> ((_at_v1_n00_0_0_1 & 1u) * 16u)).x;
    let _at_v1_n00_0_0_2 = u32(33 * i2_n00 + i3_n00_0_0_2 + _p.o1);
    let v1_n00_0_0_2 = unpack2x16float(a1[_at_v1_n00_0_0_2 >> 1u] >> ((_at_v1_n00_0_0_2 & 1u) * 16u)).x;
    let _at_v1_n00_0_0_3 = u32(33 * i2_n00 + i3_n00_0_0_3 + _p.o1);
    let v1_n00_0_0_3 = unpack2x16float(a1[_at_v1_n00_0_0_3 >> 1u] >> ((_at_v1_n00_0_0_3 & 1u) * 16u)).x;
    let ln0_0_0 = vec4<f32>(select(0.0f, select(0.0f, v1_n00_0_0_0, n0 + un0 * 1u < 70u), next * 16u + qn0 * 4u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_1, n0 + un0 * 1u < 70u), next * 16u + qn0 * 4u + 1u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_2, n0 + un0 * 1u < 70u), next * 16u + qn0 * 4u + 2u < 33u), select(0.0f, select(0.0f, v1_n00_0_0_3, n0 + un0 * 1u < 70u), next * 16u + qn0 * 4u + 3u < 33u));
    let i3_n10_0_0_0 = i32(min(next * 16u + qn1 * 4u, 33u - 1u));
    let i3_n10_0_0_1 = i32(min(next * 16u + qn1 * 4u + 1u, 33u - 1u));
    let i3_n10_0_0_2 = i32(min(next * 16u + qn1 * 4u + 2u, 33u - 1u));
    let i3_n10_0_0_3 = i32(min(next * 16u + qn1 * 4u + 3u, 33u - 1u));
    let _at_v1_n10_0_0_0 = u32(33 * i2_n10 + i3_n10_0_0_0 + _p.o1);
    let v1_n10_0_0_0 = unpack2x16float(a1[_at_v1_n10_0_0_0 >> 1u] >> ((_at_v1_n10_0_0_0 & 1u) * 16u)).x;
    let _at_v1_n10_0_0_1 = u32(33 * i2_n10 + i3_n10_0_0_1 + _p.o1);
    let v1_n10_0_0_1 = unpack2x16float(a1[_at_v1_n10_0_0_1 >> 1u] >> ((_at_v1_n10_0_0_1 & 1u) * 16u)).x;
    let _at_v1_n10_0_0_2 = u32(33 * i2_n10 + i3_n10_0_0_2 + _p.o1);
    let v1_n10_0_0_2 = unpack2x16float(a1[_at_v1_n10_0_0_2 >> 1u] >> ((_at_v1_n10_0_0_2 & 1u) * 16u)).x;
    let _at_v1_n10_0_0_3 = u32(33 * i2_n10 + i3_n10_0_0_3 + _p.o1);
    let v1_n10_0_0_3 = unpack2x16float(a1[_at_v1_n10_0_0_3 >> 1u] >> ((_at_v1_n10_0_0_3 & 1u) * 16u)).x;
    let ln1_0_0 = vec4<f32>(select(0.0f, select(0.0f, v1_n10_0_0_0, n0 + un1 * 1u < 70u), next * 16u + qn1 * 4u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_1, n0 + un1 * 1u < 70u), next * 16u + qn1 * 4u + 1u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_2, n0 + un1 * 1u < 70u), next * 16u + qn1 * 4u + 2u < 33u), select(0.0f, select(0.0f, v1_n10_0_0_3, n0 + un1 * 1u < 70u), next * 16u + qn1 * 4u + 3u < 33u));
    let from_m = now * 144u + ty;
    let from_n = now * 144u + tx;
    {
      let x0 = w0[from_m + 0u];
      let y0 = w1[from_n + 0u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 9u];
      let y0 = w1[from_n + 9u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 18u];
      let y0 = w1[from_n + 18u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 27u];
      let y0 = w1[from_n + 27u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 36u];
      let y0 = w1[from_n + 36u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 45u];
      let y0 = w1[from_n + 45u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 54u];
      let y0 = w1[from_n + 54u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 63u];
      let y0 = w1[from_n + 63u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 72u];
      let y0 = w1[from_n + 72u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 81u];
      let y0 = w1[from_n + 81u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 90u];
      let y0 = w1[from_n + 90u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 99u];
      let y0 = w1[from_n + 99u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 108u];
      let y0 = w1[from_n + 108u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 117u];
      let y0 = w1[from_n + 117u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 126u];
      let y0 = w1[from_n + 126u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    {
      let x0 = w0[from_m + 135u];
      let y0 = w1[from_n + 135u];
      c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
      c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
      c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
      c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
    }
    let then = (step - 0u + 1u) % 2u;
    {
      let at = then * 144u + qm0 * 36u + um0 / 4u;
      w0[at + 0u][um0 & 3u] = lm0_0_0.x;
      w0[at + 9u][um0 & 3u] = lm0_0_0.y;
      w0[at + 18u][um0 & 3u] = lm0_0_0.z;
      w0[at + 27u][um0 & 3u] = lm0_0_0.w;
    }
    {
      let at = then * 144u + qm1 * 36u + um1 / 4u;
      w0[at + 0u][um1 & 3u] = lm1_0_0.x;
      w0[at + 9u][um1 & 3u] = lm1_0_0.y;
      w0[at + 18u][um1 & 3u] = lm1_0_0.z;
      w0[at + 27u][um1 & 3u] = lm1_0_0.w;
    }
    {
      let at = then * 144u + qn0 * 36u + un0 / 4u;
      w1[at + 0u][un0 & 3u] = ln0_0_0.x;
      w1[at + 9u][un0 & 3u] = ln0_0_0.y;
      w1[at + 18u][un0 & 3u] = ln0_0_0.z;
      w1[at + 27u][un0 & 3u] = ln0_0_0.w;
    }
    {
      let at = then * 144u + qn1 * 36u + un1 / 4u;
      w1[at + 0u][un1 & 3u] = ln1_0_0.x;
      w1[at + 9u][un1 & 3u] = ln1_0_0.y;
      w1[at + 18u][un1 & 3u] = ln1_0_0.z;
      w1[at + 27u][un1 & 3u] = ln1_0_0.w;
    }
    workgroupBarrier();
  }
  let v6 = 0.0f;
  {
    let col = n0 + tx * 4u + 0u;
    let i2_0 = i32(min(col, 70u - 1u));
    let i2_1 = i32(min(col + 1u, 70u - 1u));
    let i2_2 = i32(min(col + 2u, 70u - 1u));
    let i2_3 = i32(min(col + 3u, 70u - 1u));
    let _at_v4_0 = u32(i2_0 + _p.o2);
    let v4_0 = unpack2x16float(a2[_at_v4_0 >> 1u] >> ((_at_v4_0 & 1u) * 16u)).x;
    let _at_v4_1 = u32(i2_1 + _p.o2);
    let v4_1 = unpack2x16float(a2[_at_v4_1 >> 1u] >> ((_at_v4_1 & 1u) * 16u)).x;
    let _at_v4_2 = u32(i2_2 + _p.o2);
    let v4_2 = unpack2x16float(a2[_at_v4_2 >> 1u] >> ((_at_v4_2 & 1u) * 16u)).x;
    let _at_v4_3 = u32(i2_3 + _p.o2);
    let v4_3 = unpack2x16float(a2[_at_v4_3 >> 1u] >> ((_at_v4_3 & 1u) * 16u)).x;
    {
      let row = m0 + ty * 4u + 0u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c0_0.x) + v4_0;
      let v5_1 = _launder(c0_0.y) + v4_1;
      let v5_2 = _launder(c0_0.z) + v4_2;
      let v5_3 = _launder(c0_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u && col < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_0);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_0) << _bit);
        }
      }
      if (row < 50u && col + 1u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_1);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_1) << _bit);
        }
      }
      if (row < 50u && col + 2u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_2);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_2) << _bit);
        }
      }
      if (row < 50u && col + 3u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_3);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_3) << _bit);
        }
      }
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c1_0.x) + v4_0;
      let v5_1 = _launder(c1_0.y) + v4_1;
      let v5_2 = _launder(c1_0.z) + v4_2;
      let v5_3 = _launder(c1_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u && col < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_0);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_0) << _bit);
        }
      }
      if (row < 50u && col + 1u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_1);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_1) << _bit);
        }
      }
      if (row < 50u && col + 2u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_2);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_2) << _bit);
        }
      }
      if (row < 50u && col + 3u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_3);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_3) << _bit);
        }
      }
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c2_0.x) + v4_0;
      let v5_1 = _launder(c2_0.y) + v4_1;
      let v5_2 = _launder(c2_0.z) + v4_2;
      let v5_3 = _launder(c2_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u && col < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_0);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_0) << _bit);
        }
      }
      if (row < 50u && col + 1u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_1);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_1) << _bit);
        }
      }
      if (row < 50u && col + 2u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_2);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_2) << _bit);
        }
      }
      if (row < 50u && col + 3u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_3);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_3) << _bit);
        }
      }
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c3_0.x) + v4_0;
      let v5_1 = _launder(c3_0.y) + v4_1;
      let v5_2 = _launder(c3_0.z) + v4_2;
      let v5_3 = _launder(c3_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u && col < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_0);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_0) << _bit);
        }
      }
      if (row < 50u && col + 1u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_1);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_1) << _bit);
        }
      }
      if (row < 50u && col + 2u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_2);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_2) << _bit);
        }
      }
      if (row < 50u && col + 3u < 70u) {
        {
          let _at = u32(3500 * i0 + 70 * i1 + i2_3);
          let _bit = (_at & 1u) * 16u;
          let _to = &a3[_at >> 1u];
          atomicAnd(_to, ~(65535u << _bit));
          atomicOr(_to, f16_bits(v7_3) << _bit);
        }
      }
    }
  }
}
