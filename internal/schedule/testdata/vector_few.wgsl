// contraction i0:1 batch i1:3 m i2:70 n i3:10001 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[210] aligned
// %0 float32{0 1 3} = Load a0[30003*i0 + 10001*i1 + i3]
// %1 float32{2 3} = Load a1[10001*i2 + i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[210*i0 + 70*i1 + i2]

// Pass 0: groups [90 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true}], scratch [4208]

struct _params {
  o0: i32,
  o1: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read> a1: array<f32>;
@group(0) @binding(2) var<storage, read_write> s0: array<f32>;
var<workgroup> w0: array<vec4<f32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let job = _group;
  let batch = job / 18u % 1u;
  let split = job / 18u;
  let tk = _thread % 256u;
  let tn = _thread / 256u;
  let col = (job % 18u * 1u + tn) * 4u;
  var c0 = vec4<f32>();
  var c1 = vec4<f32>();
  var c2 = vec4<f32>();
  let i0_m0 = i32(0u);
  let i0_m1 = i32(1u);
  let i0_m2 = i32(2u);
  let i1_n0 = i32(min(col + 0u, 70u - 1u));
  var d00 = vec4<f32>();
  var d10 = vec4<f32>();
  var d20 = vec4<f32>();
  let i1_n1 = i32(min(col + 1u, 70u - 1u));
  var d01 = vec4<f32>();
  var d11 = vec4<f32>();
  var d21 = vec4<f32>();
  let i1_n2 = i32(min(col + 2u, 70u - 1u));
  var d02 = vec4<f32>();
  var d12 = vec4<f32>();
  var d22 = vec4<f32>();
  let i1_n3 = i32(min(col + 3u, 70u - 1u));
  var d03 = vec4<f32>();
  var d13 = vec4<f32>();
  var d23 = vec4<f32>();
  let begin = split * 2048u;
  let end = min(begin + 2048u, 10001u);
  {
    var k0 = begin;
    for (; k0 + 1024u <= end; k0 = k0 + 1024u) {
      let i2 = i32(k0 + tk);
      let v0_m0_0 = a0[10001 * i0_m0 + i2 + _p.o0];
      let v0_m0_1 = a0[10001 * i0_m0 + i2 + _p.o0 + 256];
      let v0_m0_2 = a0[10001 * i0_m0 + i2 + _p.o0 + 512];
      let v0_m0_3 = a0[10001 * i0_m0 + i2 + _p.o0 + 768];
      let m_m0 = vec4<f32>(v0_m0_0, v0_m0_1, v0_m0_2, v0_m0_3);
      let v0_m1_0 = a0[10001 * i0_m1 + i2 + _p.o0];
      let v0_m1_1 = a0[10001 * i0_m1 + i2 + _p.o0 + 256];
      let v0_m1_2 = a0[10001 * i0_m1 + i2 + _p.o0 + 512];
      let v0_m1_3 = a0[10001 * i0_m1 + i2 + _p.o0 + 768];
      let m_m1 = vec4<f32>(v0_m1_0, v0_m1_1, v0_m1_2, v0_m1_3);
      let v0_m2_0 = a0[10001 * i0_m2 + i2 + _p.o0];
      let v0_m2_1 = a0[10001 * i0_m2 + i2 + _p.o0 + 256];
      let v0_m2_2 = a0[10001 * i0_m2 + i2 + _p.o0 + 512];
      let v0_m2_3 = a0[10001 * i0_m2 + i2 + _p.o0 + 768];
      let m_m2 = vec4<f32>(v0_m2_0, v0_m2_1, v0_m2_2, v0_m2_3);
      let v1_n0_0 = a1[10001 * i1_n0 + i2 + _p.o1];
      let v1_n0_1 = a1[10001 * i1_n0 + i2 + _p.o1 + 256];
      let v1_n0_2 = a1[10001 * i1_n0 + i2 + _p.o1 + 512];
      let v1_n0_3 = a1[10001 * i1_n0 + i2 + _p.o1 + 768];
      let n_n0 = vec4<f32>(v1_n0_0, v1_n0_1, v1_n0_2, v1_n0_3);
      d00 = fma(m_m0, n_n0, d00);
      d10 = fma(m_m1, n_n0, d10);
      d20 = fma(m_m2, n_n0, d20);
      let v1_n1_0 = a1[10001 * i1_n1 + i2 + _p.o1];
      let v1_n1_1 = a1[10001 * i1_n1 + i2 + _p.o1 + 256];
      let v1_n1_2 = a1[10001 * i1_n1 + i2 + _p.o1 + 512];
      let v1_n1_3 = a1[10001 * i1_n1 + i2 + _p.o1 + 768];
      let n_n1 = vec4<f32>(v1_n1_0, v1_n1_1, v1_n1_2, v1_n1_3);
      d01 = fma(m_m0, n_n1, d01);
      d11 = fma(m_m1, n_n1, d11);
      d21 = fma(m_m2, n_n1, d21);
      let v1_n2_0 = a1[10001 * i1_n2 + i2 + _p.o1];
      let v1_n2_1 = a1[10001 * i1_n2 + i2 + _p.o1 + 256];
      let v1_n2_2 = a1[10001 * i1_n2 + i2 + _p.o1 + 512];
      let v1_n2_3 = a1[10001 * i1_n2 + i2 + _p.o1 + 768];
      let n_n2 = vec4<f32>(v1_n2_0, v1_n2_1, v1_n2_2, v1_n2_3);
      d02 = fma(m_m0, n_n2, d02);
      d12 = fma(m_m1, n_n2, d12);
      d22 = fma(m_m2, n_n2, d22);
      let v1_n3_0 = a1[10001 * i1_n3 + i2 + _p.o1];
      let v1_n3_1 = a1[10001 * i1_n3 + i2 + _p.o1 + 256];
      let v1_n3_2 = a1[10001 * i1_n3 + i2 + _p.o1 + 512];
      let v1_n3_3 = a1[10001 * i1_n3 + i2 + _p.o1 + 768];
      let n_n3 = vec4<f32>(v1_n3_0, v1_n3_1, v1_n3_2, v1_n3_3);
      d03 = fma(m_m0, n_n3, d03);
      d13 = fma(m_m1, n_n3, d13);
      d23 = fma(m_m2, n_n3, d23);
    }
    if (k0 < end) {
      let i2_0 = i32(min(k0 + tk, 10001u - 1u));
      let i2_1 = i32(min(k0 + tk + 256u, 10001u - 1u));
      let i2_2 = i32(min(k0 + tk + 512u, 10001u - 1u));
      let i2_3 = i32(min(k0 + tk + 768u, 10001u - 1u));
      let v0_m0_0 = a0[10001 * i0_m0 + i2_0 + _p.o0];
      let v0_m0_1 = a0[10001 * i0_m0 + i2_1 + _p.o0];
      let v0_m0_2 = a0[10001 * i0_m0 + i2_2 + _p.o0];
      let v0_m0_3 = a0[10001 * i0_m0 + i2_3 + _p.o0];
      let m_m0 = vec4<f32>(select(0.0f, v0_m0_0, k0 + tk < 10001u), select(0.0f, v0_m0_1, k0 + tk + 256u < 10001u), select(0.0f, v0_m0_2, k0 + tk + 512u < 10001u), select(0.0f, v0_m0_3, k0 + tk + 768u < 10001u));
      let v0_m1_0 = a0[10001 * i0_m1 + i2_0 + _p.o0];
      let v0_m1_1 = a0[10001 * i0_m1 + i2_1 + _p.o0];
      let v0_m1_2 = a0[10001 * i0_m1 + i2_2 + _p.o0];
      let v0_m1_3 = a0[10001 * i0_m1 + i2_3 + _p.o0];
      let m_m1 = vec4<f32>(select(0.0f, v0_m1_0, k0 + tk < 10001u), select(0.0f, v0_m1_1, k0 + tk + 256u < 10001u), select(0.0f, v0_m1_2, k0 + tk + 512u < 10001u), select(0.0f, v0_m1_3, k0 + tk + 768u < 10001u));
      let v0_m2_0 = a0[10001 * i0_m2 + i2_0 + _p.o0];
      let v0_m2_1 = a0[10001 * i0_m2 + i2_1 + _p.o0];
      let v0_m2_2 = a0[10001 * i0_m2 + i2_2 + _p.o0];
      let v0_m2_3 = a0[10001 * i0_m2 + i2_3 + _p.o0];
      let m_m2 = vec4<f32>(select(0.0f, v0_m2_0, k0 + tk < 10001u), select(0.0f, v0_m2_1, k0 + tk + 256u < 10001u), select(0.0f, v0_m2_2, k0 + tk + 512u < 10001u), select(0.0f, v0_m2_3, k0 + tk + 768u < 10001u));
      let v1_n0_0 = a1[10001 * i1_n0 + i2_0 + _p.o1];
      let v1_n0_1 = a1[10001 * i1_n0 + i2_1 + _p.o1];
      let v1_n0_2 = a1[10001 * i1_n0 + i2_2 + _p.o1];
      let v1_n0_3 = a1[10001 * i1_n0 + i2_3 + _p.o1];
      let n_n0 = vec4<f32>(select(0.0f, v1_n0_0, k0 + tk < 10001u), select(0.0f, v1_n0_1, k0 + tk + 256u < 10001u), select(0.0f, v1_n0_2, k0 + tk + 512u < 10001u), select(0.0f, v1_n0_3, k0 + tk + 768u < 10001u));
      d00 = fma(m_m0, n_n0, d00);
      d10 = fma(m_m1, n_n0, d10);
      d20 = fma(m_m2, n_n0, d20);
      let v1_n1_0 = a1[10001 * i1_n1 + i2_0 + _p.o1];
      let v1_n1_1 = a1[10001 * i1_n1 + i2_1 + _p.o1];
      let v1_n1_2 = a1[10001 * i1_n1 + i2_2 + _p.o1];
      let v1_n1_3 = a1[10001 * i1_n1 + i2_3 + _p.o1];
      let n_n1 = vec4<f32>(select(0.0f, v1_n1_0, k0 + tk < 10001u), select(0.0f, v1_n1_1, k0 + tk + 256u < 10001u), select(0.0f, v1_n1_2, k0 + tk + 512u < 10001u), select(0.0f, v1_n1_3, k0 + tk + 768u < 10001u));
      d01 = fma(m_m0, n_n1, d01);
      d11 = fma(m_m1, n_n1, d11);
      d21 = fma(m_m2, n_n1, d21);
      let v1_n2_0 = a1[10001 * i1_n2 + i2_0 + _p.o1];
      let v1_n2_1 = a1[10001 * i1_n2 + i2_1 + _p.o1];
      let v1_n2_2 = a1[10001 * i1_n2 + i2_2 + _p.o1];
      let v1_n2_3 = a1[10001 * i1_n2 + i2_3 + _p.o1];
      let n_n2 = vec4<f32>(select(0.0f, v1_n2_0, k0 + tk < 10001u), select(0.0f, v1_n2_1, k0 + tk + 256u < 10001u), select(0.0f, v1_n2_2, k0 + tk + 512u < 10001u), select(0.0f, v1_n2_3, k0 + tk + 768u < 10001u));
      d02 = fma(m_m0, n_n2, d02);
      d12 = fma(m_m1, n_n2, d12);
      d22 = fma(m_m2, n_n2, d22);
      let v1_n3_0 = a1[10001 * i1_n3 + i2_0 + _p.o1];
      let v1_n3_1 = a1[10001 * i1_n3 + i2_1 + _p.o1];
      let v1_n3_2 = a1[10001 * i1_n3 + i2_2 + _p.o1];
      let v1_n3_3 = a1[10001 * i1_n3 + i2_3 + _p.o1];
      let n_n3 = vec4<f32>(select(0.0f, v1_n3_0, k0 + tk < 10001u), select(0.0f, v1_n3_1, k0 + tk + 256u < 10001u), select(0.0f, v1_n3_2, k0 + tk + 512u < 10001u), select(0.0f, v1_n3_3, k0 + tk + 768u < 10001u));
      d03 = fma(m_m0, n_n3, d03);
      d13 = fma(m_m1, n_n3, d13);
      d23 = fma(m_m2, n_n3, d23);
    }
  }
  c0.x = d00.x + d00.y + (d00.z + d00.w);
  c0.y = d01.x + d01.y + (d01.z + d01.w);
  c0.z = d02.x + d02.y + (d02.z + d02.w);
  c0.w = d03.x + d03.y + (d03.z + d03.w);
  c1.x = d10.x + d10.y + (d10.z + d10.w);
  c1.y = d11.x + d11.y + (d11.z + d11.w);
  c1.z = d12.x + d12.y + (d12.z + d12.w);
  c1.w = d13.x + d13.y + (d13.z + d13.w);
  c2.x = d20.x + d20.y + (d20.z + d20.w);
  c2.y = d21.x + d21.y + (d21.z + d21.w);
  c2.z = d22.x + d22.y + (d22.z + d22.w);
  c2.w = d23.x + d23.y + (d23.z + d23.w);
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
  workgroupBarrier();
  w0[_thread] = c1;
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
  c1 = w0[_thread];
  workgroupBarrier();
  w0[_thread] = c2;
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
  c2 = w0[_thread];
  if (tk == 0u) {
    {
      let i1_0 = i32(min(col, 70u - 1u));
      let i1_1 = i32(min(col + 1u, 70u - 1u));
      let i1_2 = i32(min(col + 2u, 70u - 1u));
      let i1_3 = i32(min(col + 3u, 70u - 1u));
      {
        let i0 = i32(0u);
        if (col < 70u) {
          s0[((split * 1u + batch) * 3u + 0u) * 70u + col + 0u] = c0.x;
        }
        if (col + 1u < 70u) {
          s0[((split * 1u + batch) * 3u + 0u) * 70u + col + 1u] = c0.y;
        }
        if (col + 2u < 70u) {
          s0[((split * 1u + batch) * 3u + 0u) * 70u + col + 2u] = c0.z;
        }
        if (col + 3u < 70u) {
          s0[((split * 1u + batch) * 3u + 0u) * 70u + col + 3u] = c0.w;
        }
      }
      {
        let i0 = i32(1u);
        if (col < 70u) {
          s0[((split * 1u + batch) * 3u + 1u) * 70u + col + 0u] = c1.x;
        }
        if (col + 1u < 70u) {
          s0[((split * 1u + batch) * 3u + 1u) * 70u + col + 1u] = c1.y;
        }
        if (col + 2u < 70u) {
          s0[((split * 1u + batch) * 3u + 1u) * 70u + col + 2u] = c1.z;
        }
        if (col + 3u < 70u) {
          s0[((split * 1u + batch) * 3u + 1u) * 70u + col + 3u] = c1.w;
        }
      }
      {
        let i0 = i32(2u);
        if (col < 70u) {
          s0[((split * 1u + batch) * 3u + 2u) * 70u + col + 0u] = c2.x;
        }
        if (col + 1u < 70u) {
          s0[((split * 1u + batch) * 3u + 2u) * 70u + col + 1u] = c2.y;
        }
        if (col + 2u < 70u) {
          s0[((split * 1u + batch) * 3u + 2u) * 70u + col + 2u] = c2.z;
        }
        if (col + 3u < 70u) {
          s0[((split * 1u + batch) * 3u + 2u) * 70u + col + 3u] = c2.w;
        }
      }
    }
  }
}

// Pass 1: groups [1 1 1], bindings [{Arg:-1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:2 Offset:true}], scratch [4208]

struct _params {
  o2: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> s0: array<f32>;
@group(0) @binding(1) var<storage, read> a2: array<f32>;
@group(0) @binding(2) var<storage, read_write> a3: array<f32>;

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
  let item = _group * 256u + _thread;
  let v6 = 0.0f;
  if (item < 210u) {
    let fi1 = item;
    let i1 = i32(fi1 % 70u);
    let i0 = i32(fi1 / 70u);
    var v3 = 0.0f;
    {
      let k3_0 = s0[0 * 210 + (70 * i0 + i1)];
      let k3_1 = s0[(0 + 1) * 210 + (70 * i0 + i1)];
      let k3_2 = s0[(0 + 2) * 210 + (70 * i0 + i1)];
      let k3_3 = s0[(0 + 3) * 210 + (70 * i0 + i1)];
      let k3_4 = s0[(0 + 4) * 210 + (70 * i0 + i1)];
      v3 = v3 + k3_0;
      v3 = v3 + k3_1;
      v3 = v3 + k3_2;
      v3 = v3 + k3_3;
      v3 = v3 + k3_4;
    }
    let v4 = a2[i1 + _p.o2];
    let v5 = _launder(v3) + v4;
    let v7 = max_f32(v5, v6);
    a3[70 * i0 + i1] = v7;
  }
}
