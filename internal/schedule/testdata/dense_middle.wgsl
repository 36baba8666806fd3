// contraction i0:1 batch i1:512 m i2:512 n i3:512 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[262144] aligned
// %0 float32{0 1 3} = Load a0[262144*i0 + 512*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 512*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[262144*i0 + 512*i1 + i2]

// Pass 0: groups [64 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []

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
var<workgroup> w0: array<vec4<f32>, 272>;
var<workgroup> w1: array<vec4<f32>, 256>;

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

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let job = _group;
  let batch = job / 64u % 1u;
  let split = job / 64u;
  let tile = job % 64u;
  let first = tile / 64u * 8u;
  let height = min(8u - first, 8u);
  let m0 = (first + tile % 64u % height) * 64u;
  let n0 = tile % 64u / height * 64u;
  let ty = _thread / 32u * 4u + (_thread % 2u + _thread / 16u % 2u * 2u);
  let tx = _thread / 32u % 1u * 8u + _thread / 2u % 8u;
  var c0_0 = vec4<f32>();
  var c0_1 = vec4<f32>();
  var c1_0 = vec4<f32>();
  var c1_1 = vec4<f32>();
  var c2_0 = vec4<f32>();
  var c2_1 = vec4<f32>();
  var c3_0 = vec4<f32>();
  var c3_1 = vec4<f32>();
  let qm0 = _thread % 2u;
  let um0 = _thread / 2u;
  let i0_m00 = i32(m0 + um0 * 1u);
  let qn0 = _thread % 16u;
  let un0 = _thread / 16u;
  let i1_n00 = i32(n0 + qn0 * 4u);
  let i2_m00_0_0 = i32(0u * 8u + qm0 * 4u);
  let _four_v0_m00_0_0_0 = a0[u32(512 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
  let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
  let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
  let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
  let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
  let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
  let i2_n00_0_0 = i32(0u * 8u + un0 * 1u);
  let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 512 * i2_n00_0_0 + _p.o1) >> 2u];
  let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
  let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
  let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
  let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
  let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
  {
    let at = 0u * 136u + qm0 * 68u + um0 / 4u;
    w0[at + 0u][um0 & 3u] = lm0_0_0.x;
    w0[at + 17u][um0 & 3u] = lm0_0_0.y;
    w0[at + 34u][um0 & 3u] = lm0_0_0.z;
    w0[at + 51u][um0 & 3u] = lm0_0_0.w;
  }
  {
    w1[0u * 128u + un0 * 16u + qn0] = ln0_0_0;
  }
  workgroupBarrier();
  for (var step = 0u; step < 64u; step = step + 2u) {
    {
      let next = min(step + 1u, 64u - 1u);
      let i2_m00_0_0 = i32(next * 8u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(512 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
      let i2_n00_0_0 = i32(next * 8u + un0 * 1u);
      let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 512 * i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
      let from_m = 0u * 136u + ty;
      let from_n = 0u * 128u + tx;
      {
        let x0 = w0[from_m + 0u];
        let y0 = w1[from_n + 0u];
        let y1 = w1[from_n + 8u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 17u];
        let y0 = w1[from_n + 16u];
        let y1 = w1[from_n + 24u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 34u];
        let y0 = w1[from_n + 32u];
        let y1 = w1[from_n + 40u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 51u];
        let y0 = w1[from_n + 48u];
        let y1 = w1[from_n + 56u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 68u];
        let y0 = w1[from_n + 64u];
        let y1 = w1[from_n + 72u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 85u];
        let y0 = w1[from_n + 80u];
        let y1 = w1[from_n + 88u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 102u];
        let y0 = w1[from_n + 96u];
        let y1 = w1[from_n + 104u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 119u];
        let y0 = w1[from_n + 112u];
        let y1 = w1[from_n + 120u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let at = 1u * 136u + qm0 * 68u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 17u][um0 & 3u] = lm0_0_0.y;
        w0[at + 34u][um0 & 3u] = lm0_0_0.z;
        w0[at + 51u][um0 & 3u] = lm0_0_0.w;
      }
      {
        w1[1u * 128u + un0 * 16u + qn0] = ln0_0_0;
      }
      workgroupBarrier();
    }
    {
      let next = min(step + 1u + 1u, 64u - 1u);
      let i2_m00_0_0 = i32(next * 8u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(512 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
      let i2_n00_0_0 = i32(next * 8u + un0 * 1u);
      let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 512 * i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
      let from_m = 1u * 136u + ty;
      let from_n = 1u * 128u + tx;
      {
        let x0 = w0[from_m + 0u];
        let y0 = w1[from_n + 0u];
        let y1 = w1[from_n + 8u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 17u];
        let y0 = w1[from_n + 16u];
        let y1 = w1[from_n + 24u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 34u];
        let y0 = w1[from_n + 32u];
        let y1 = w1[from_n + 40u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 51u];
        let y0 = w1[from_n + 48u];
        let y1 = w1[from_n + 56u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 68u];
        let y0 = w1[from_n + 64u];
        let y1 = w1[from_n + 72u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 85u];
        let y0 = w1[from_n + 80u];
        let y1 = w1[from_n + 88u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 102u];
        let y0 = w1[from_n + 96u];
        let y1 = w1[from_n + 104u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let x0 = w0[from_m + 119u];
        let y0 = w1[from_n + 112u];
        let y1 = w1[from_n + 120u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
      }
      {
        let at = 0u * 136u + qm0 * 68u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 17u][um0 & 3u] = lm0_0_0.y;
        w0[at + 34u][um0 & 3u] = lm0_0_0.z;
        w0[at + 51u][um0 & 3u] = lm0_0_0.w;
      }
      {
        w1[0u * 128u + un0 * 16u + qn0] = ln0_0_0;
      }
      workgroupBarrier();
    }
  }
  let v6 = 0.0f;
  {
    let col = n0 + tx * 4u + 0u;
    let i1 = i32(col);
    let _four_v4_0 = a2[u32(i1 + _p.o2) >> 2u];
    let v4_0 = _four_v4_0.x;
    let v4_1 = _four_v4_0.y;
    let v4_2 = _four_v4_0.z;
    let v4_3 = _four_v4_0.w;
    {
      let row = m0 + ty * 4u + 0u;
      let i0 = i32(row);
      let v5_0 = _launder(c0_0.x) + v4_0;
      let v5_1 = _launder(c0_0.y) + v4_1;
      let v5_2 = _launder(c0_0.z) + v4_2;
      let v5_3 = _launder(c0_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i0 = i32(row);
      let v5_0 = _launder(c1_0.x) + v4_0;
      let v5_1 = _launder(c1_0.y) + v4_1;
      let v5_2 = _launder(c1_0.z) + v4_2;
      let v5_3 = _launder(c1_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i0 = i32(row);
      let v5_0 = _launder(c2_0.x) + v4_0;
      let v5_1 = _launder(c2_0.y) + v4_1;
      let v5_2 = _launder(c2_0.z) + v4_2;
      let v5_3 = _launder(c2_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i0 = i32(row);
      let v5_0 = _launder(c3_0.x) + v4_0;
      let v5_1 = _launder(c3_0.y) + v4_1;
      let v5_2 = _launder(c3_0.z) + v4_2;
      let v5_3 = _launder(c3_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
  }
  {
    let col = n0 + tx * 4u + 32u;
    let i1 = i32(col);
    let _four_v4_0 = a2[u32(i1 + _p.o2) >> 2u];
    let v4_0 = _four_v4_0.x;
    let v4_1 = _four_v4_0.y;
    let v4_2 = _four_v4_0.z;
    let v4_3 = _four_v4_0.w;
    {
      let row = m0 + ty * 4u + 0u;
      let i0 = i32(row);
      let v5_0 = _launder(c0_1.x) + v4_0;
      let v5_1 = _launder(c0_1.y) + v4_1;
      let v5_2 = _launder(c0_1.z) + v4_2;
      let v5_3 = _launder(c0_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i0 = i32(row);
      let v5_0 = _launder(c1_1.x) + v4_0;
      let v5_1 = _launder(c1_1.y) + v4_1;
      let v5_2 = _launder(c1_1.z) + v4_2;
      let v5_3 = _launder(c1_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i0 = i32(row);
      let v5_0 = _launder(c2_1.x) + v4_0;
      let v5_1 = _launder(c2_1.y) + v4_1;
      let v5_2 = _launder(c2_1.z) + v4_2;
      let v5_3 = _launder(c2_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i0 = i32(row);
      let v5_0 = _launder(c3_1.x) + v4_0;
      let v5_1 = _launder(c3_1.y) + v4_1;
      let v5_2 = _launder(c3_1.z) + v4_2;
      let v5_3 = _launder(c3_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(512 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
  }
}
