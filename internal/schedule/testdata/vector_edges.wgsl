// contraction i0:2 batch i1:1 m i2:1001 n i3:333 k
// a0 in float16 aligned
// a1 in float16 aligned
// a2 in float16 aligned
// a3 out float16[2002] aligned
// %0 float32{0 1 3} = Load a0[333*i0 + 333*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 1001*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[1001*i0 + 1001*i1 + i2]

// Pass 0: groups [64 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []

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
var<workgroup> w0: array<vec4<f32>, 256>;

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

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let job = _group;
  let batch = job / 32u % 2u;
  let split = job / 64u;
  let tk = _thread / 8u;
  let tn = _thread % 8u;
  let col = job % 32u * 32u + tn;
  let i0 = i32(batch);
  var c0 = vec4<f32>();
  let i1_n_0 = i32(min(col, 1001u - 1u));
  let i1_n_1 = i32(min(col + 8u, 1001u - 1u));
  let i1_n_2 = i32(min(col + 16u, 1001u - 1u));
  let i1_n_3 = i32(min(col + 24u, 1001u - 1u));
  {
    var k0 = 0u;
    for (; k0 + 128u <= 333u; k0 = k0 + 128u) {
      let i2 = i32(k0 + tk);
      let _at_v0_m0_0 = u32(333 * i0 + i2 + _p.o0);
      let v0_m0_0 = unpack2x16float(a0[_at_v0_m0_0 >> 1u] >> ((_at_v0_m0_0 & 1u) * 16u)).x;
      let _at_v0_m0_1 = u32(333 * i0 + i2 + _p.o0 + 32);
      let v0_m0_1 = unpack2x16float(a0[_at_v0_m0_1 >> 1u] >> ((_at_v0_m0_1 & 1u) * 16u)).x;
      let _at_v0_m0_2 = u32(333 * i0 + i2 + _p.o0 + 64);
      let v0_m0_2 = unpack2x16float(a0[_at_v0_m0_2 >> 1u] >> ((_at_v0_m0_2 & 1u) * 16u)).x;
      let _at_v0_m0_3 = u32(333 * i0 + i2 + _p.o0 + 96);
      let v0_m0_3 = unpack2x16float(a0[_at_v0_m0_3 >> 1u] >> ((_at_v0_m0_3 & 1u) * 16u)).x;
      let m_m0 = vec4<f32>(v0_m0_0, v0_m0_1, v0_m0_2, v0_m0_3);
      let _at_v1_n_k0_0 = u32(i1_n_0 + 1001 * i2 + _p.o1);
      let v1_n_k0_0 = unpack2x16float(a1[_at_v1_n_k0_0 >> 1u] >> ((_at_v1_n_k0_0 & 1u) * 16u)).x;
      let _at_v1_n_k0_1 = u32(i1_n_1 + 1001 * i2 + _p.o1);
      let v1_n_k0_1 = unpack2x16float(a1[_at_v1_n_k0_1 >> 1u] >> ((_at_v1_n_k0_1 & 1u) * 16u)).x;
      let _at_v1_n_k0_2 = u32(i1_n_2 + 1001 * i2 + _p.o1);
      let v1_n_k0_2 = unpack2x16float(a1[_at_v1_n_k0_2 >> 1u] >> ((_at_v1_n_k0_2 & 1u) * 16u)).x;
      let _at_v1_n_k0_3 = u32(i1_n_3 + 1001 * i2 + _p.o1);
      let v1_n_k0_3 = unpack2x16float(a1[_at_v1_n_k0_3 >> 1u] >> ((_at_v1_n_k0_3 & 1u) * 16u)).x;
      let n_n_k0 = vec4<f32>(v1_n_k0_0, v1_n_k0_1, v1_n_k0_2, v1_n_k0_3);
      c0 = fma(vec4<f32>(m_m0.x), n_n_k0, c0);
      let _at_v1_n_k1_0 = u32(i1_n_0 + 1001 * (i2 + 32) + _p.o1);
      let v1_n_k1_0 = unpack2x16float(a1[_at_v1_n_k1_0 >> 1u] >> ((_at_v1_n_k1_0 & 1u) * 16u)).x;
      let _at_v1_n_k1_1 = u32(i1_n_1 + 1001 * (i2 + 32) + _p.o1);
      let v1_n_k1_1 = unpack2x16float(a1[_at_v1_n_k1_1 >> 1u] >> ((_at_v1_n_k1_1 & 1u) * 16u)).x;
      let _at_v1_n_k1_2 = u32(i1_n_2 + 1001 * (i2 + 32) + _p.o1);
      let v1_n_k1_2 = unpack2x16float(a1[_at_v1_n_k1_2 >> 1u] >> ((_at_v1_n_k1_2 & 1u) * 16u)).x;
      let _at_v1_n_k1_3 = u32(i1_n_3 + 1001 * (i2 + 32) + _p.o1);
      let v1_n_k1_3 = unpack2x16float(a1[_at_v1_n_k1_3 >> 1u] >> ((_at_v1_n_k1_3 & 1u) * 16u)).x;
      let n_n_k1 = vec4<f32>(v1_n_k1_0, v1_n_k1_1, v1_n_k1_2, v1_n_k1_3);
      c0 = fma(vec4<f32>(m_m0.y), n_n_k1, c0);
      let _at_v1_n_k2_0 = u32(i1_n_0 + 1001 * (i2 + 64) + _p.o1);
      let v1_n_k2_0 = unpack2x16float(a1[_at_v1_n_k2_0 >> 1u] >> ((_at_v1_n_k2_0 & 1u) * 16u)).x;
      let _at_v1_n_k2_1 = u32(i1_n_1 + 1001 * (i2 + 64) + _p.o1);
      let v1_n_k2_1 = unpack2x16float(a1[_at_v1_n_k2_1 >> 1u] >> ((_at_v1_n_k2_1 & 1u) * 16u)).x;
      let _at_v1_n_k2_2 = u32(i1_n_2 + 1001 * (i2 + 64) + _p.o1);
      let v1_n_k2_2 = unpack2x16float(a1[_at_v1_n_k2_2 >> 1u] >> ((_at_v1_n_k2_2 & 1u) * 16u)).x;
      let _at_v1_n_k2_3 = u32(i1_n_3 + 1001 * (i2 + 64) + _p.o1);
      let v1_n_k2_3 = unpack2x16float(a1[_at_v1_n_k2_3 >> 1u] >> ((_at_v1_n_k2_3 & 1u) * 16u)).x;
      let n_n_k2 = vec4<f32>(v1_n_k2_0, v1_n_k2_1, v1_n_k2_2, v1_n_k2_3);
      c0 = fma(vec4<f32>(m_m0.z), n_n_k2, c0);
      let _at_v1_n_k3_0 = u32(i1_n_0 + 1001 * (i2 + 96) + _p.o1);
      let v1_n_k3_0 = unpack2x16float(a1[_at_v1_n_k3_0 >> 1u] >> ((_at_v1_n_k3_0 & 1u) * 16u)).x;
      let _at_v1_n_k3_1 = u32(i1_n_1 + 1001 * (i2 + 96) + _p.o1);
      let v1_n_k3_1 = unpack2x16float(a1[_at_v1_n_k3_1 >> 1u] >> ((_at_v1_n_k3_1 & 1u) * 16u)).x;
      let _at_v1_n_k3_2 = u32(i1_n_2 + 1001 * (i2 + 96) + _p.o1);
      let v1_n_k3_2 = unpack2x16float(a1[_at_v1_n_k3_2 >> 1u] >> ((_at_v1_n_k3_2 & 1u) * 16u)).x;
      let _at_v1_n_k3_3 = u32(i1_n_3 + 1001 * (i2 + 96) + _p.o1);
      let v1_n_k3_3 = unpack2x16float(a1[_at_v1_n_k3_3 >> 1u] >> ((_at_v1_n_k3_3 & 1u) * 16u)).x;
      let n_n_k3 = vec4<f32>(v1_n_k3_0, v1_n_k3_1, v1_n_k3_2, v1_n_k3_3);
      c0 = fma(vec4<f32>(m_m0.w), n_n_k3, c0);
    }
    if (k0 < 333u) {
      let i2_0 = i32(min(k0 + tk, 333u - 1u));
      let i2_1 = i32(min(k0 + tk + 32u, 333u - 1u));
      let i2_2 = i32(min(k0 + tk + 64u, 333u - 1u));
      let i2_3 = i32(min(k0 + tk + 96u, 333u - 1u));
      let _at_v0_m0_0 = u32(333 * i0 + i2_0 + _p.o0);
      let v0_m0_0 = unpack2x16float(a0[_at_v0_m0_0 >> 1u] >> ((_at_v0_m0_0 & 1u) * 16u)).x;
      let _at_v0_m0_1 = u32(333 * i0 + i2_1 + _p.o0);
      let v0_m0_1 = unpack2x16float(a0[_at_v0_m0_1 >> 1u] >> ((_at_v0_m0_1 & 1u) * 16u)).x;
      let _at_v0_m0_2 = u32(333 * i0 + i2_2 + _p.o0);
      let v0_m0_2 = unpack2x16float(a0[_at_v0_m0_2 >> 1u] >> ((_at_v0_m0_2 & 1u) * 16u)).x;
      let _at_v0_m0_3 = u32(333 * i0 + i2_3 + _p.o0);
      let v0_m0_3 = unpack2x16float(a0[_at_v0_m0_3 >> 1u] >> ((_at_v0_m0_3 & 1u) * 16u)).x;
      let m_m0 = vec4<f32>(select(0.0f, v0_m0_0, k0 + tk < 333u), select(0.0f, v0_m0_1, k0 + tk + 32u < 333u), select(0.0f, v0_m0_2, k0 + tk + 64u < 333u), select(0.0f, v0_m0_3, k0 + tk + 96u < 333u));
      let _at_v1_n_k0_0 = u32(i1_n_0 + 1001 * i2_0 + _p.o1);
      let v1_n_k0_0 = unpack2x16float(a1[_at_v1_n_k0_0 >> 1u] >> ((_at_v1_n_k0_0 & 1u) * 16u)).x;
      let _at_v1_n_k0_1 = u32(i1_n_1 + 1001 * i2_0 + _p.o1);
      let v1_n_k0_1 = unpack2x16float(a1[_at_v1_n_k0_1 >> 1u] >> ((_at_v1_n_k0_1 & 1u) * 16u)).x;
      let _at_v1_n_k0_2 = u32(i1_n_2 + 1001 * i2_0 + _p.o1);
      let v1_n_k0_2 = unpack2x16float(a1[_at_v1_n_k0_2 >> 1u] >> ((_at_v1_n_k0_2 & 1u) * 16u)).x;
      let _at_v1_n_k0_3 = u32(i1_n_3 + 1001 * i2_0 + _p.o1);
      let v1_n_k0_3 = unpack2x16float(a1[_at_v1_n_k0_3 >> 1u] >> ((_at_v1_n_k0_3 & 1u) * 16u)).x;
      let n_n_k0 = vec4<f32>(select(0.0f, v1_n_k0_0, k0 + tk < 333u), select(0.0f, v1_n_k0_1, k0 + tk < 333u), select(0.0f, v1_n_k0_2, k0 + tk < 333u), select(0.0f, v1_n_k0_3, k0 + tk < 333u));
      c0 = fma(vec4<f32>(m_m0.x), n_n_k0, c0);
      let _at_v1_n_k1_0 = u32(i1_n_0 + 1001 * i2_1 + _p.o1);
      let v1_n_k1_0 = unpack2x16float(a1[_at_v1_n_k1_0 >> 1u] >> ((_at_v1_n_k1_0 & 1u) * 16u)).x;
      let _at_v1_n_k1_1 = u32(i1_n_1 + 1001 * i2_1 + _p.o1);
      let v1_n_k1_1 = unpack2x16float(a1[_at_v1_n_k1_1 >> 1u] >> ((_at_v1_n_k1_1 & 1u) * 16u)).x;
      let _at_v1_n_k1_2 = u32(i1_n_2 + 1001 * i2_1 + _p.o1);
      let v1_n_k1_2 = unpack2x16float(a1[_at_v1_n_k1_2 >> 1u] >> ((_at_v1_n_k1_2 & 1u) * 16u)).x;
      let _at_v1_n_k1_3 = u32(i1_n_3 + 1001 * i2_1 + _p.o1);
      let v1_n_k1_3 = unpack2x16float(a1[_at_v1_n_k1_3 >> 1u] >> ((_at_v1_n_k1_3 & 1u) * 16u)).x;
      let n_n_k1 = vec4<f32>(select(0.0f, v1_n_k1_0, k0 + tk + 32u < 333u), select(0.0f, v1_n_k1_1, k0 + tk + 32u < 333u), select(0.0f, v1_n_k1_2, k0 + tk + 32u < 333u), select(0.0f, v1_n_k1_3, k0 + tk + 32u < 333u));
      c0 = fma(vec4<f32>(m_m0.y), n_n_k1, c0);
      let _at_v1_n_k2_0 = u32(i1_n_0 + 1001 * i2_2 + _p.o1);
      let v1_n_k2_0 = unpack2x16float(a1[_at_v1_n_k2_0 >> 1u] >> ((_at_v1_n_k2_0 & 1u) * 16u)).x;
      let _at_v1_n_k2_1 = u32(i1_n_1 + 1001 * i2_2 + _p.o1);
      let v1_n_k2_1 = unpack2x16float(a1[_at_v1_n_k2_1 >> 1u] >> ((_at_v1_n_k2_1 & 1u) * 16u)).x;
      let _at_v1_n_k2_2 = u32(i1_n_2 + 1001 * i2_2 + _p.o1);
      let v1_n_k2_2 = unpack2x16float(a1[_at_v1_n_k2_2 >> 1u] >> ((_at_v1_n_k2_2 & 1u) * 16u)).x;
      let _at_v1_n_k2_3 = u32(i1_n_3 + 1001 * i2_2 + _p.o1);
      let v1_n_k2_3 = unpack2x16float(a1[_at_v1_n_k2_3 >> 1u] >> ((_at_v1_n_k2_3 & 1u) * 16u)).x;
      let n_n_k2 = vec4<f32>(select(0.0f, v1_n_k2_0, k0 + tk + 64u < 333u), select(0.0f, v1_n_k2_1, k0 + tk + 64u < 333u), select(0.0f, v1_n_k2_2, k0 + tk + 64u < 333u), select(0.0f, v1_n_k2_3, k0 + tk + 64u < 333u));
      c0 = fma(vec4<f32>(m_m0.z), n_n_k2, c0);
      let _at_v1_n_k3_0 = u32(i1_n_0 + 1001 * i2_3 + _p.o1);
      let v1_n_k3_0 = unpack2x16float(a1[_at_v1_n_k3_0 >> 1u] >> ((_at_v1_n_k3_0 & 1u) * 16u)).x;
      let _at_v1_n_k3_1 = u32(i1_n_1 + 1001 * i2_3 + _p.o1);
      let v1_n_k3_1 = unpack2x16float(a1[_at_v1_n_k3_1 >> 1u] >> ((_at_v1_n_k3_1 & 1u) * 16u)).x;
      let _at_v1_n_k3_2 = u32(i1_n_2 + 1001 * i2_3 + _p.o1);
      let v1_n_k3_2 = unpack2x16float(a1[_at_v1_n_k3_2 >> 1u] >> ((_at_v1_n_k3_2 & 1u) * 16u)).x;
      let _at_v1_n_k3_3 = u32(i1_n_3 + 1001 * i2_3 + _p.o1);
      let v1_n_k3_3 = unpack2x16float(a1[_at_v1_n_k3_3 >> 1u] >> ((_at_v1_n_k3_3 & 1u) * 16u)).x;
      let n_n_k3 = vec4<f32>(select(0.0f, v1_n_k3_0, k0 + tk + 96u < 333u), select(0.0f, v1_n_k3_1, k0 + tk + 96u < 333u), select(0.0f, v1_n_k3_2, k0 + tk + 96u < 333u), select(0.0f, v1_n_k3_3, k0 + tk + 96u < 333u));
      c0 = fma(vec4<f32>(m_m0.w), n_n_k3, c0);
    }
  }
  w0[_thread] = c0;
  workgroupBarrier();
  if (tk < 16u) {
    w0[_thread] = w0[_thread] + w0[_thread + 128u];
  }
  workgroupBarrier();
  if (tk < 8u) {
    w0[_thread] = w0[_thread] + w0[_thread + 64u];
  }
  workgroupBarrier();
  if (tk < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 32u];
  }
  workgroupBarrier();
  if (tk < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 16u];
  }
  workgroupBarrier();
  if (tk < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 8u];
  }
  c0 = w0[_thread];
  let v6 = 0.0f;
  if (tk == 0u) {
    {
      let i1_0 = i32(min(col, 1001u - 1u));
      let i1_1 = i32(min(col + 8u, 1001u - 1u));
      let i1_2 = i32(min(col + 16u, 1001u - 1u));
      let i1_3 = i32(min(col + 24u, 1001u - 1u));
      let _at_v4_0 = u32(i1_0 + _p.o2);
      let v4_0 = unpack2x16float(a2[_at_v4_0 >> 1u] >> ((_at_v4_0 & 1u) * 16u)).x;
      let _at_v4_1 = u32(i1_1 + _p.o2);
      let v4_1 = unpack2x16float(a2[_at_v4_1 >> 1u] >> ((_at_v4_1 & 1u) * 16u)).x;
      let _at_v4_2 = u32(i1_2 + _p.o2);
      let v4_2 = unpack2x16float(a2[_at_v4_2 >> 1u] >> ((_at_v4_2 & 1u) * 16u)).x;
      let _at_v4_3 = u32(i1_3 + _p.o2);
      let v4_3 = unpack2x16float(a2[_at_v4_3 >> 1u] >> ((_at_v4_3 & 1u) * 16u)).x;
      {
        let v5_0 = _launder(c0.x) + v4_0;
        let v5_1 = _launder(c0.y) + v4_1;
        let v5_2 = _launder(c0.z) + v4_2;
        let v5_3 = _launder(c0.w) + v4_3;
        let v7_0 = max_f32(v5_0, v6);
        let v7_1 = max_f32(v5_1, v6);
        let v7_2 = max_f32(v5_2, v6);
        let v7_3 = max_f32(v5_3, v6);
        if (col < 1001u) {
          {
            let _at = u32(1001 * i0 + i1_0);
            let _bit = (_at & 1u) * 16u;
            let _to = &a3[_at >> 1u];
            atomicAnd(_to, ~(65535u << _bit));
            atomicOr(_to, f16_bits(v7_0) << _bit);
          }
        }
        if (col + 8u < 1001u) {
          {
            let _at = u32(1001 * i0 + i1_1);
            let _bit = (_at & 1u) * 16u;
            let _to = &a3[_at >> 1u];
            atomicAnd(_to, ~(65535u << _bit));
            atomicOr(_to, f16_bits(v7_1) << _bit);
          }
        }
        if (col + 16u < 1001u) {
          {
            let _at = u32(1001 * i0 + i1_2);
            let _bit = (_at & 1u) * 16u;
            let _to = &a3[_at >> 1u];
            atomicAnd(_to, ~(65535u << _bit));
            atomicOr(_to, f16_bits(v7_2) << _bit);
          }
        }
        if (col + 24u < 1001u) {
          {
            let _at = u32(1001 * i0 + i1_3);
            let _bit = (_at & 1u) * 16u;
            let _to = &a3[_at >> 1u];
            atomicAnd(_to, ~(65535u << _bit));
            atomicOr(_to, f16_bits(v7_3) << _bit);
          }
        }
      }
    }
  }
}
