// reduce i0:1024 i1:1000 reduced
// a0 in float32 aligned
// a1 out float32[1024000] aligned
// %0 float32{0 1} = Load a0[1000*i0 + i1]
// %1 float32{0} = ReduceMax %0 over {1}
// %2 float32{0 1} = Sub %0 %1
// %3 float32{0 1} = Exp %2
// %4 float32{0} = Sum %3 over {1}
// %5 float32{0 1} = Div %3 %4
// %6 float32{0 1} = Store %5 a1[1000*i0 + i1]

// Pass 0: groups [512 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []

enable subgroups;

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<f32>>;
var<workgroup> w0: array<f32, 8>;
var<workgroup> w1: array<f32, 8>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

fn _launder2(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + _zero);
}

var<private> _zero: u32;

fn div_f32(a: f32, b: f32) -> f32 {
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  let infinite = bitcast<f32>((sign | 0x7f800000u) | _zero);
  let s = select(1.0f, 0.25f, abs(b) > 4e+37f);
  return select(a * s / (b * s), select(infinite, bitcast<f32>(0x7fc00000u | _zero), a == 0.0f || is_nan(a)), b == 0.0f);
}

fn exp_f32(x: f32) -> f32 {
  let y = select(select(exp(x), bitcast<f32>(0x7f800000u | _zero), x > 88.73f), 0.0f, x < -104.0f);
  return select(y, x, is_nan(x));
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(select(max(a, b), bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)), a == b), b, is_nan(b)), a, is_nan(a));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let t = _thread / 1u % 128u;
  let each = _group * 2u + _thread / 128u;
  let row = min(each, 1023u);
  let i0 = i32(row);
  let i1_0 = i32(min(t * 4u, 1000u - 4u));
  let i1_1 = i32(min(t * 4u + 512u, 1000u - 4u));
  let _four_v0_0 = a0[u32(1000 * i0 + i1_0 + _p.o0) >> 2u];
  let v0_0 = _four_v0_0.x;
  let v0_1 = _four_v0_0.y;
  let v0_2 = _four_v0_0.z;
  let v0_3 = _four_v0_0.w;
  let _four_v0_4 = a0[u32(1000 * i0 + i1_1 + _p.o0) >> 2u];
  let v0_4 = _four_v0_4.x;
  let v0_5 = _four_v0_4.y;
  let v0_6 = _four_v0_4.z;
  let v0_7 = _four_v0_4.w;
  var r1 = bitcast<f32>(0xff800000u | _zero);
  r1 = max_f32(r1, max_f32(max_f32(max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_0, t * 4u < 1000u), select(bitcast<f32>(0xff800000u | _zero), v0_1, t * 4u < 1000u)), max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_2, t * 4u < 1000u), select(bitcast<f32>(0xff800000u | _zero), v0_3, t * 4u < 1000u))), max_f32(max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_4, t * 4u + 512u < 1000u), select(bitcast<f32>(0xff800000u | _zero), v0_5, t * 4u + 512u < 1000u)), max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_6, t * 4u + 512u < 1000u), select(bitcast<f32>(0xff800000u | _zero), v0_7, t * 4u + 512u < 1000u)))));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 1u));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 2u));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 4u));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 8u));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 16u));
  if (_thread % 32u == 0u) {
    w0[_thread / 32u] = r1;
  }
  workgroupBarrier();
  r1 = w0[_thread / 128u * 4u + _thread % 4u];
  r1 = max_f32(r1, subgroupShuffleXor(r1, 1u));
  r1 = max_f32(r1, subgroupShuffleXor(r1, 2u));
  let v1 = r1;
  var r4 = 0.0f;
  let v2_0 = v0_0 - _launder2(v1);
  let v2_1 = v0_1 - _launder2(v1);
  let v2_2 = v0_2 - _launder2(v1);
  let v2_3 = v0_3 - _launder2(v1);
  let v2_4 = v0_4 - _launder2(v1);
  let v2_5 = v0_5 - _launder2(v1);
  let v2_6 = v0_6 - _launder2(v1);
  let v2_7 = v0_7 - _launder2(v1);
  let v3_0 = exp_f32(_launder(v2_0));
  let v3_1 = exp_f32(_launder(v2_1));
  let v3_2 = exp_f32(_launder(v2_2));
  let v3_3 = exp_f32(_launder(v2_3));
  let v3_4 = exp_f32(_launder(v2_4));
  let v3_5 = exp_f32(_launder(v2_5));
  let v3_6 = exp_f32(_launder(v2_6));
  let v3_7 = exp_f32(_launder(v2_7));
  r4 = r4 + (select(0.0f, v3_0, t * 4u < 1000u) + select(0.0f, v3_1, t * 4u < 1000u) + (select(0.0f, v3_2, t * 4u < 1000u) + select(0.0f, v3_3, t * 4u < 1000u)) + (select(0.0f, v3_4, t * 4u + 512u < 1000u) + select(0.0f, v3_5, t * 4u + 512u < 1000u) + (select(0.0f, v3_6, t * 4u + 512u < 1000u) + select(0.0f, v3_7, t * 4u + 512u < 1000u))));
  r4 = r4 + subgroupShuffleXor(r4, 1u);
  r4 = r4 + subgroupShuffleXor(r4, 2u);
  r4 = r4 + subgroupShuffleXor(r4, 4u);
  r4 = r4 + subgroupShuffleXor(r4, 8u);
  r4 = r4 + subgroupShuffleXor(r4, 16u);
  if (_thread % 32u == 0u) {
    w1[_thread / 32u] = r4;
  }
  workgroupBarrier();
  r4 = w1[_thread / 128u * 4u + _thread % 4u];
  r4 = r4 + subgroupShuffleXor(r4, 1u);
  r4 = r4 + subgroupShuffleXor(r4, 2u);
  let v4 = r4;
  let v5_0 = div_f32(_launder(v3_0), _launder2(v4));
  let v5_1 = div_f32(_launder(v3_1), _launder2(v4));
  let v5_2 = div_f32(_launder(v3_2), _launder2(v4));
  let v5_3 = div_f32(_launder(v3_3), _launder2(v4));
  let v5_4 = div_f32(_launder(v3_4), _launder2(v4));
  let v5_5 = div_f32(_launder(v3_5), _launder2(v4));
  let v5_6 = div_f32(_launder(v3_6), _launder2(v4));
  let v5_7 = div_f32(_launder(v3_7), _launder2(v4));
  if (t * 4u < 1000u) {
    a1[u32(1000 * i0 + i1_0) >> 2u] = vec4<f32>(v5_0, v5_1, v5_2, v5_3);
  }
  if (t * 4u + 512u < 1000u) {
    a1[u32(1000 * i0 + i1_1) >> 2u] = vec4<f32>(v5_4, v5_5, v5_6, v5_7);
  }
}
