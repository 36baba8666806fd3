// contraction i0:2 batch i1:50 m i2:72 n i3:33 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[7200] aligned
// %0 float32{0 1 3} = Load a0[1650*i0 + 33*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 72*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[3600*i0 + 72*i1 + i2]

// Pass 0: groups [4 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []

struct _params {
  o0: i32,
  o1: i32,
  o2: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> a2: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> a3: array<vec4<f32>>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

var<private> _zero: u32;

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
  let item = min(_group * 64u + _thread, 233u);
  let batch = item / 117u;
  let m0 = item / 9u % 13u * 4u;
  let n0 = item % 9u * 8u;
  let i0 = i32(batch);
  let i1_m_0 = i32(min(m0, 50u - 1u));
  let i1_m_1 = i32(min(m0 + 1u, 50u - 1u));
  let i1_m_2 = i32(min(m0 + 2u, 50u - 1u));
  let i1_m_3 = i32(min(m0 + 3u, 50u - 1u));
  let i2_n = i32(n0);
  var c00 = vec4<f32>();
  var c01 = vec4<f32>();
  var c10 = vec4<f32>();
  var c11 = vec4<f32>();
  var c20 = vec4<f32>();
  var c21 = vec4<f32>();
  var c30 = vec4<f32>();
  var c31 = vec4<f32>();
  for (var k = 0u; k < 33u + _zero; k = k + 1u) {
    let i3_m = i32(k);
    let v0_m_0 = a0[1650 * i0 + 33 * i1_m_0 + i3_m + _p.o0];
    let v0_m_1 = a0[1650 * i0 + 33 * i1_m_1 + i3_m + _p.o0];
    let v0_m_2 = a0[1650 * i0 + 33 * i1_m_2 + i3_m + _p.o0];
    let v0_m_3 = a0[1650 * i0 + 33 * i1_m_3 + i3_m + _p.o0];
    let _four_v1_n_0 = a1[u32(i2_n + 72 * i3_m + _p.o1) >> 2u];
    let v1_n_0 = _four_v1_n_0.x;
    let v1_n_1 = _four_v1_n_0.y;
    let v1_n_2 = _four_v1_n_0.z;
    let v1_n_3 = _four_v1_n_0.w;
    let _four_v1_n_4 = a1[u32(i2_n + 72 * i3_m + _p.o1 + 4) >> 2u];
    let v1_n_4 = _four_v1_n_4.x;
    let v1_n_5 = _four_v1_n_4.y;
    let v1_n_6 = _four_v1_n_4.z;
    let v1_n_7 = _four_v1_n_4.w;
    let b0 = vec4<f32>(v1_n_0, v1_n_1, v1_n_2, v1_n_3);
    c00 = fma(vec4<f32>(v0_m_0), b0, c00);
    c10 = fma(vec4<f32>(v0_m_1), b0, c10);
    c20 = fma(vec4<f32>(v0_m_2), b0, c20);
    c30 = fma(vec4<f32>(v0_m_3), b0, c30);
    let b1 = vec4<f32>(v1_n_4, v1_n_5, v1_n_6, v1_n_7);
    c01 = fma(vec4<f32>(v0_m_0), b1, c01);
    c11 = fma(vec4<f32>(v0_m_1), b1, c11);
    c21 = fma(vec4<f32>(v0_m_2), b1, c21);
    c31 = fma(vec4<f32>(v0_m_3), b1, c31);
  }
  let v6 = 0.0f;
  {
    let col = n0 + 0u;
    let i2 = i32(col);
    let _four_v4_0 = a2[u32(i2 + _p.o2) >> 2u];
    let v4_0 = _four_v4_0.x;
    let v4_1 = _four_v4_0.y;
    let v4_2 = _four_v4_0.z;
    let v4_3 = _four_v4_0.w;
    {
      let row = m0 + 0u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c00.x) + v4_0;
      let v5_1 = _launder(c00.y) + v4_1;
      let v5_2 = _launder(c00.z) + v4_2;
      let v5_3 = _launder(c00.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 1u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c10.x) + v4_0;
      let v5_1 = _launder(c10.y) + v4_1;
      let v5_2 = _launder(c10.z) + v4_2;
      let v5_3 = _launder(c10.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 2u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c20.x) + v4_0;
      let v5_1 = _launder(c20.y) + v4_1;
      let v5_2 = _launder(c20.z) + v4_2;
      let v5_3 = _launder(c20.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 3u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c30.x) + v4_0;
      let v5_1 = _launder(c30.y) + v4_1;
      let v5_2 = _launder(c30.z) + v4_2;
      let v5_3 = _launder(c30.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
  }
  {
    let col = n0 + 4u;
    let i2 = i32(col);
    let _four_v4_0 = a2[u32(i2 + _p.o2) >> 2u];
    let v4_0 = _four_v4_0.x;
    let v4_1 = _four_v4_0.y;
    let v4_2 = _four_v4_0.z;
    let v4_3 = _four_v4_0.w;
    {
      let row = m0 + 0u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c01.x) + v4_0;
      let v5_1 = _launder(c01.y) + v4_1;
      let v5_2 = _launder(c01.z) + v4_2;
      let v5_3 = _launder(c01.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 1u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c11.x) + v4_0;
      let v5_1 = _launder(c11.y) + v4_1;
      let v5_2 = _launder(c11.z) + v4_2;
      let v5_3 = _launder(c11.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 2u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c21.x) + v4_0;
      let v5_1 = _launder(c21.y) + v4_1;
      let v5_2 = _launder(c21.z) + v4_2;
      let v5_3 = _launder(c21.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
    {
      let row = m0 + 3u;
      let i1 = i32(min(row, 50u - 1u));
      let v5_0 = _launder(c31.x) + v4_0;
      let v5_1 = _launder(c31.y) + v4_1;
      let v5_2 = _launder(c31.z) + v4_2;
      let v5_3 = _launder(c31.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      if (row < 50u) {
        a3[u32(3600 * i0 + 72 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
  }
}
