// reduce i0:1000 i1:10 reduced
// a0 in float32 aligned
// a1 out float32[10000] aligned
// %0 float32{0 1} = Load a0[10*i0 + i1]
// %1 float32{0} = ReduceMax %0 over {1}
// %2 float32{0 1} = Sub %0 %1
// %3 float32{0 1} = Exp %2
// %4 float32{0} = Sum %3 over {1}
// %5 float32{0 1} = Div %3 %4
// %6 float32{0 1} = Store %5 a1[10*i0 + i1]

// Pass 0: groups [32 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
var<workgroup> w0: array<f32, 256>;
var<workgroup> w1: array<f32, 256>;

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
  let t = _thread / 1u % 8u;
  let each = _group * 32u + _thread / 8u;
  let row = min(each, 999u);
  let i0 = i32(row);
  let i1_0 = i32(min(t, 10u - 1u));
  let i1_1 = i32(min(t + 8u, 10u - 1u));
  let v0_0 = a0[10 * i0 + i1_0 + _p.o0];
  let v0_1 = a0[10 * i0 + i1_1 + _p.o0];
  var r1 = bitcast<f32>(0xff800000u | _zero);
  r1 = max_f32(r1, max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_0, t < 10u), select(bitcast<f32>(0xff800000u | _zero), v0_1, t + 8u < 10u)));
  w0[_thread] = r1;
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 4u]);
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 2u]);
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 1u]);
  }
  workgroupBarrier();
  r1 = w0[_thread - t * 1u];
  let v1 = r1;
  var r4 = 0.0f;
  let v2_0 = v0_0 - _launder2(v1);
  let v2_1 = v0_1 - _launder2(v1);
  let v3_0 = exp_f32(_launder(v2_0));
  let v3_1 = exp_f32(_launder(v2_1));
  r4 = r4 + (select(0.0f, v3_0, t < 10u) + select(0.0f, v3_1, t + 8u < 10u));
  w1[_thread] = r4;
  workgroupBarrier();
  if (t < 4u) {
    w1[_thread] = w1[_thread] + w1[_thread + 4u];
  }
  workgroupBarrier();
  if (t < 2u) {
    w1[_thread] = w1[_thread] + w1[_thread + 2u];
  }
  workgroupBarrier();
  if (t < 1u) {
    w1[_thread] = w1[_thread] + w1[_thread + 1u];
  }
  workgroupBarrier();
  r4 = w1[_thread - t * 1u];
  let v4 = r4;
  let v5_0 = div_f32(_launder(v3_0), _launder2(v4));
  let v5_1 = div_f32(_launder(v3_1), _launder2(v4));
  if (t < 10u && each < 1000u) {
    a1[10 * i0 + i1_0] = v5_0;
  }
  if (t + 8u < 10u && each < 1000u) {
    a1[10 * i0 + i1_1] = v5_1;
  }
}
