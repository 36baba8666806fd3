// contraction i0:1 batch i1:1 m i2:4096 n i3:4096 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[4096] aligned
// %0 float32{0 1 3} = Load a0[4096*i0 + 4096*i1 + i3]
// %1 float32{2 3} = Load a1[4096*i2 + i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[4096*i0 + 4096*i1 + i2]

// Pass 0: groups [1024 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []

struct _params {
  o0: i32,
  o1: i32,
  o2: i32,
}
@group(0) @binding(4) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> a2: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> a3: array<vec4<f32>>;
var<workgroup> w0: array<vec4<f32>, 256>;

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

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let job = _group;
  let batch = job / 1024u % 1u;
  let split = job / 1024u;
  let tk = _thread % 256u;
  let tn = _thread / 256u;
  let col = (job % 1024u * 1u + tn) * 4u;
  var c0 = vec4<f32>();
  let i0_n0 = i32(col + 0u);
  var d00 = vec4<f32>();
  let i0_n1 = i32(col + 1u);
  var d01 = vec4<f32>();
  let i0_n2 = i32(col + 2u);
  var d02 = vec4<f32>();
  let i0_n3 = i32(col + 3u);
  var d03 = vec4<f32>();
  {
    var k0 = 0u;
    for (; k0 + 1024u <= 4096u; k0 = k0 + 1024u) {
      let i1 = i32(k0 + tk * 4u);
      let _four_v0_m0_0 = a0[u32(i1 + _p.o0) >> 2u];
      let v0_m0_0 = _four_v0_m0_0.x;
      let v0_m0_1 = _four_v0_m0_0.y;
      let v0_m0_2 = _four_v0_m0_0.z;
      let v0_m0_3 = _four_v0_m0_0.w;
      let m_m0 = vec4<f32>(v0_m0_0, v0_m0_1, v0_m0_2, v0_m0_3);
      let _four_v1_n0_0 = a1[u32(4096 * i0_n0 + i1 + _p.o1) >> 2u];
      let v1_n0_0 = _four_v1_n0_0.x;
      let v1_n0_1 = _four_v1_n0_0.y;
      let v1_n0_2 = _four_v1_n0_0.z;
      let v1_n0_3 = _four_v1_n0_0.w;
      let n_n0 = vec4<f32>(v1_n0_0, v1_n0_1, v1_n0_2, v1_n0_3);
      d00 = fma(m_m0, n_n0, d00);
      let _four_v1_n1_0 = a1[u32(4096 * i0_n1 + i1 + _p.o1) >> 2u];
      let v1_n1_0 = _four_v1_n1_0.x;
      let v1_n1_1 = _four_v1_n1_0.y;
      let v1_n1_2 = _four_v1_n1_0.z;
      let v1_n1_3 = _four_v1_n1_0.w;
      let n_n1 = vec4<f32>(v1_n1_0, v1_n1_1, v1_n1_2, v1_n1_3);
      d01 = fma(m_m0, n_n1, d01);
      let _four_v1_n2_0 = a1[u32(4096 * i0_n2 + i1 + _p.o1) >> 2u];
      let v1_n2_0 = _four_v1_n2_0.x;
      let v1_n2_1 = _four_v1_n2_0.y;
      let v1_n2_2 = _four_v1_n2_0.z;
      let v1_n2_3 = _four_v1_n2_0.w;
      let n_n2 = vec4<f32>(v1_n2_0, v1_n2_1, v1_n2_2, v1_n2_3);
      d02 = fma(m_m0, n_n2, d02);
      let _four_v1_n3_0 = a1[u32(4096 * i0_n3 + i1 + _p.o1) >> 2u];
      let v1_n3_0 = _four_v1_n3_0.x;
      let v1_n3_1 = _four_v1_n3_0.y;
      let v1_n3_2 = _four_v1_n3_0.z;
      let v1_n3_3 = _four_v1_n3_0.w;
      let n_n3 = vec4<f32>(v1_n3_0, v1_n3_1, v1_n3_2, v1_n3_3);
      d03 = fma(m_m0, n_n3, d03);
    }
  }
  c0.x = d00.x + d00.y + (d00.z + d00.w);
  c0.y = d01.x + d01.y + (d01.z + d01.w);
  c0.z = d02.x + d02.y + (d02.z + d02.w);
  c0.w = d03.x + d03.y + (d03.z + d03.w);
  w0[_thread] = c0;
  workgroupBarrier();
  if (tk < 128u) {
    w0[_thread] = w0[_thread] + w0[_thread + 128u];
  }
  workgroupBarrier();
  if (tk < 64u) {
    w0[_thread] = w0[_thread] + w0[_thread + 64u];
  }
  workgroupBarrier();
  if (tk < 32u) {
    w0[_thread] = w0[_thread] + w0[_thread + 32u];
  }
  workgroupBarrier();
  if (tk < 16u) {
    w0[_thread] = w0[_thread] + w0[_thread + 16u];
  }
  workgroupBarrier();
  if (tk < 8u) {
    w0[_thread] = w0[_thread] + w0[_thread + 8u];
  }
  workgroupBarrier();
  if (tk < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 4u];
  }
  workgroupBarrier();
  if (tk < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 2u];
  }
  workgroupBarrier();
  if (tk < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 1u];
  }
  c0 = w0[_thread];
  let v6 = 0.0f;
  if (tk == 0u) {
    {
      let i0 = i32(col);
      let _four_v4_0 = a2[u32(i0 + _p.o2) >> 2u];
      let v4_0 = _four_v4_0.x;
      let v4_1 = _four_v4_0.y;
      let v4_2 = _four_v4_0.z;
      let v4_3 = _four_v4_0.w;
      {
        let v5_0 = _launder(c0.x) + v4_0;
        let v5_1 = _launder(c0.y) + v4_1;
        let v5_2 = _launder(c0.z) + v4_2;
        let v5_3 = _launder(c0.w) + v4_3;
        let v7_0 = max_f32(v5_0, v6);
        let v7_1 = max_f32(v5_1, v6);
        let v7_2 = max_f32(v5_2, v6);
        let v7_3 = max_f32(v5_3, v6);
        a3[u32(i0) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
      }
    }
  }
}
