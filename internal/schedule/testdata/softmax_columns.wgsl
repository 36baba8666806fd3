// reduce i0:300 i1:1000 reduced
// a0 in float32 aligned
// a1 out float32[300000] aligned
// %0 float32{0 1} = Load a0[i0 + 300*i1]
// %1 float32{0} = ReduceMax %0 over {1}
// %2 float32{0 1} = Sub %0 %1
// %3 float32{0 1} = Exp %2
// %4 float32{0} = Sum %3 over {1}
// %5 float32{0 1} = Div %3 %4
// %6 float32{0 1} = Store %5 a1[i0 + 300*i1]

// Pass 0: groups [110 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch [15600]

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> s0: array<u32>;
var<workgroup> w0: array<f32, 256>;

var<private> _zero: u32;

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
  let t = _thread / 32u % 8u;
  let segment = _group / 10u;
  let each = _group % 10u * 32u + _thread % 32u;
  let row = min(each, 299u);
  let i0 = i32(row);
  let lo = segment * 96u;
  let hi = min(lo + 96u, 1000u);
  var r1 = bitcast<f32>(0xff800000u | _zero);
  {
    var b = lo;
    for (; b + 32u <= hi; b = b + 32u) {
      let i1 = i32(b + t);
      let v0_0 = a0[i0 + 300 * i1 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1 + _p.o0 + 2400];
      let v0_2 = a0[i0 + 300 * i1 + _p.o0 + 4800];
      let v0_3 = a0[i0 + 300 * i1 + _p.o0 + 7200];
      r1 = max_f32(r1, max_f32(max_f32(v0_0, v0_1), max_f32(v0_2, v0_3)));
    }
    if (b < hi) {
      let i1_0 = i32(min(b + t, hi - 1u));
      let i1_1 = i32(min(b + t + 8u, hi - 1u));
      let i1_2 = i32(min(b + t + 16u, hi - 1u));
      let i1_3 = i32(min(b + t + 24u, hi - 1u));
      let v0_0 = a0[i0 + 300 * i1_0 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1_1 + _p.o0];
      let v0_2 = a0[i0 + 300 * i1_2 + _p.o0];
      let v0_3 = a0[i0 + 300 * i1_3 + _p.o0];
      r1 = max_f32(r1, max_f32(max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_0, b + t < hi), select(bitcast<f32>(0xff800000u | _zero), v0_1, b + t + 8u < hi)), max_f32(select(bitcast<f32>(0xff800000u | _zero), v0_2, b + t + 16u < hi), select(bitcast<f32>(0xff800000u | _zero), v0_3, b + t + 24u < hi))));
    }
  }
  w0[_thread] = r1;
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 128u]);
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 64u]);
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = max_f32(w0[_thread], w0[_thread + 32u]);
  }
  workgroupBarrier();
  r1 = w0[_thread - t * 32u];
  if (t == 0u && segment < 11u && each < 300u) {
    s0[600u + (segment * 300u + row)] = bitcast<u32>(r1);
  }
}

// Pass 1: groups [10 1 1], bindings [{Arg:-1 Scratch:0 Write:true}], params [], scratch [15600]

@group(0) @binding(0) var<storage, read_write> s0: array<u32>;
var<workgroup> w0: array<f32, 256>;

var<private> _zero: u32;

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
  let row = min(each, 299u);
  let i0 = i32(row);
  var r1 = bitcast<f32>(0xff800000u | _zero);
  for (var n = t; n < 11u; n = n + 8u) {
    let k1 = s0[600u + (n * 300u + row)];
    r1 = max_f32(r1, bitcast<f32>(k1));
  }
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
  if (t == 0u && each < 300u) {
    s0[0u + row] = bitcast<u32>(r1);
  }
}

// Pass 2: groups [110 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch [15600]

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> s0: array<u32>;
var<workgroup> w0: array<f32, 256>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

fn _launder2(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + _zero);
}

var<private> _zero: u32;

fn exp_f32(x: f32) -> f32 {
  let y = select(select(exp(x), bitcast<f32>(0x7f800000u | _zero), x > 88.73f), 0.0f, x < -104.0f);
  return select(y, x, is_nan(x));
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let t = _thread / 32u % 8u;
  let segment = _group / 10u;
  let each = _group % 10u * 32u + _thread % 32u;
  let row = min(each, 299u);
  let i0 = i32(row);
  let lo = segment * 96u;
  let hi = min(lo + 96u, 1000u);
  var r4 = 0.0f;
  let k1_0 = s0[0 + i0];
  let v1 = bitcast<f32>(k1_0);
  {
    var b = lo;
    for (; b + 32u <= hi; b = b + 32u) {
      let i1 = i32(b + t);
      let v0_0 = a0[i0 + 300 * i1 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1 + _p.o0 + 2400];
      let v0_2 = a0[i0 + 300 * i1 + _p.o0 + 4800];
      let v0_3 = a0[i0 + 300 * i1 + _p.o0 + 7200];
      let v2_0 = v0_0 - _launder2(v1);
      let v2_1 = v0_1 - _launder2(v1);
      let v2_2 = v0_2 - _launder2(v1);
      let v2_3 = v0_3 - _launder2(v1);
      let v3_0 = exp_f32(_launder(v2_0));
      let v3_1 = exp_f32(_launder(v2_1));
      let v3_2 = exp_f32(_launder(v2_2));
      let v3_3 = exp_f32(_launder(v2_3));
      r4 = r4 + (v3_0 + v3_1 + (v3_2 + v3_3));
    }
    if (b < hi) {
      let i1_0 = i32(min(b + t, hi - 1u));
      let i1_1 = i32(min(b + t + 8u, hi - 1u));
      let i1_2 = i32(min(b + t + 16u, hi - 1u));
      let i1_3 = i32(min(b + t + 24u, hi - 1u));
      let v0_0 = a0[i0 + 300 * i1_0 + _p.o0];
      let v0_1 = a0[i0 + 300 * i1_1 + _p.o0];
      let v0_2 = a0[i0 + 300 * i1_2 + _p.o0];
      let v0_3 = a0[i0 + 300 * i1_3 + _p.o0];
      let v2_0 = v0_0 - _launder2(v1);
      let v2_1 = v0_1 - _launder2(v1);
      let v2_2 = v0_2 - _launder2(v1);
      let v2_3 = v0_3 - _launder2(v1);
      let v3_0 = exp_f32(_launder(v2_0));
      let v3_1 = exp_f32(_launder(v2_1));
      let v3_2 = exp_f32(_launder(v2_2));
      let v3_3 = exp_f32(_launder(v2_3));
      r4 = r4 + (select(0.0f, v3_0, b + t < hi) + select(0.0f, v3_1, b + t + 8u < hi) + (select(0.0f, v3_2, b + t + 16u < hi) + select(0.0f, v3_3, b + t + 24u < hi)));
    }
  }
  w0[_thread] = r4;
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 128u];
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 64u];
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 32u];
  }
  workgroupBarrier();
  r4 = w0[_thread - t * 32u];
  if (t == 0u && segment < 11u && each < 300u) {
    s0[600u + (segment * 300u + row)] = bitcast<u32>(r4);
  }
}

// Pass 3: groups [10 1 1], bindings [{Arg:-1 Scratch:0 Write:true}], params [], scratch [15600]

@group(0) @binding(0) var<storage, read_write> s0: array<u32>;
var<workgroup> w0: array<f32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let t = _thread / 1u % 8u;
  let each = _group * 32u + _thread / 8u;
  let row = min(each, 299u);
  let i0 = i32(row);
  var r4 = 0.0f;
  for (var n = t; n < 11u; n = n + 8u) {
    let k4 = s0[600u + (n * 300u + row)];
    r4 = r4 + bitcast<f32>(k4);
  }
  w0[_thread] = r4;
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 4u];
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 2u];
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 1u];
  }
  workgroupBarrier();
  r4 = w0[_thread - t * 1u];
  if (t == 0u && each < 300u) {
    s0[300u + row] = bitcast<u32>(r4);
  }
  let v4 = r4;
}

// Pass 4: groups [293 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch [15600]

struct _params {
  o0: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> s0: array<u32>;
@group(0) @binding(2) var<storage, read_write> a1: array<vec4<f32>>;

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

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let item = _group * 256u + _thread;
  if (item < 75000u) {
    let fi0 = item * 4u;
    let i0 = i32(fi0 % 300u);
    let i1 = i32(fi0 / 300u);
    let _four_v0_0 = a0[u32(i0 + 300 * i1 + _p.o0) >> 2u];
    let v0_0 = _four_v0_0.x;
    let v0_1 = _four_v0_0.y;
    let v0_2 = _four_v0_0.z;
    let v0_3 = _four_v0_0.w;
    let k1_0 = s0[0 + i0];
    let k1_1 = s0[0 + (i0 + 1)];
    let k1_2 = s0[0 + (i0 + 2)];
    let k1_3 = s0[0 + (i0 + 3)];
    let v1_0 = bitcast<f32>(k1_0);
    let v1_1 = bitcast<f32>(k1_1);
    let v1_2 = bitcast<f32>(k1_2);
    let v1_3 = bitcast<f32>(k1_3);
    let v2_0 = v0_0 - _launder2(v1_0);
    let v2_1 = v0_1 - _launder2(v1_1);
    let v2_2 = v0_2 - _launder2(v1_2);
    let v2_3 = v0_3 - _launder2(v1_3);
    let v3_0 = exp_f32(_launder(v2_0));
    let v3_1 = exp_f32(_launder(v2_1));
    let v3_2 = exp_f32(_launder(v2_2));
    let v3_3 = exp_f32(_launder(v2_3));
    let k4_0 = s0[300 + i0];
    let k4_1 = s0[300 + (i0 + 1)];
    let k4_2 = s0[300 + (i0 + 2)];
    let k4_3 = s0[300 + (i0 + 3)];
    let v4_0 = bitcast<f32>(k4_0);
    let v4_1 = bitcast<f32>(k4_1);
    let v4_2 = bitcast<f32>(k4_2);
    let v4_3 = bitcast<f32>(k4_3);
    let v5_0 = div_f32(_launder(v3_0), _launder2(v4_0));
    let v5_1 = div_f32(_launder(v3_1), _launder2(v4_1));
    let v5_2 = div_f32(_launder(v3_2), _launder2(v4_2));
    let v5_3 = div_f32(_launder(v3_3), _launder2(v4_3));
    a1[u32(i0 + 300 * i1) >> 2u] = vec4<f32>(v5_0, v5_1, v5_2, v5_3);
  }
}
