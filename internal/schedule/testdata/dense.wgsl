// contraction i0:1 batch i1:4096 m i2:4096 n i3:4096 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[16777216] aligned
// %0 float32{0 1 3} = Load a0[16777216*i0 + 4096*i1 + i3]
// %1 float32{2 3} = Load a1[4096*i2 + i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[16777216*i0 + 4096*i1 + i2]

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
var<workgroup> w0: array<vec4<f32>, 528>;
var<workgroup> w1: array<vec4<f32>, 528>;

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
  let tile = job % 1024u;
  let first = tile / 256u * 8u;
  let height = min(32u - first, 8u);
  let m0 = (first + tile % 256u % height) * 128u;
  let n0 = tile % 256u / height * 128u;
  let ty = _thread / 64u * 4u + (_thread % 2u + _thread / 16u % 2u * 2u);
  let tx = _thread / 32u % 2u * 8u + _thread / 2u % 8u;
  var c0_0 = vec4<f32>();
  var c0_1 = vec4<f32>();
  var c1_0 = vec4<f32>();
  var c1_1 = vec4<f32>();
  var c2_0 = vec4<f32>();
  var c2_1 = vec4<f32>();
  var c3_0 = vec4<f32>();
  var c3_1 = vec4<f32>();
  var c4_0 = vec4<f32>();
  var c4_1 = vec4<f32>();
  var c5_0 = vec4<f32>();
  var c5_1 = vec4<f32>();
  var c6_0 = vec4<f32>();
  var c6_1 = vec4<f32>();
  var c7_0 = vec4<f32>();
  var c7_1 = vec4<f32>();
  let qm0 = _thread % 2u;
  let um0 = _thread / 2u;
  let i0_m00 = i32(m0 + um0 * 1u);
  let qn0 = _thread % 2u;
  let un0 = _thread / 2u;
  let i1_n00 = i32(n0 + un0 * 1u);
  let i2_m00_0_0 = i32(0u * 8u + qm0 * 4u);
  let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
  let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
  let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
  let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
  let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
  let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
  let i2_n00_0_0 = i32(0u * 8u + qn0 * 4u);
  let _four_v1_n00_0_0_0 = a1[u32(4096 * i1_n00 + i2_n00_0_0 + _p.o1) >> 2u];
  let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
  let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
  let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
  let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
  let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
  {
    let at = 0u * 264u + qm0 * 132u + um0 / 4u;
    w0[at + 0u][um0 & 3u] = lm0_0_0.x;
    w0[at + 33u][um0 & 3u] = lm0_0_0.y;
    w0[at + 66u][um0 & 3u] = lm0_0_0.z;
    w0[at + 99u][um0 & 3u] = lm0_0_0.w;
  }
  {
    let at = 0u * 264u + qn0 * 132u + un0 / 4u;
    w1[at + 0u][un0 & 3u] = ln0_0_0.x;
    w1[at + 33u][un0 & 3u] = ln0_0_0.y;
    w1[at + 66u][un0 & 3u] = ln0_0_0.z;
    w1[at + 99u][un0 & 3u] = ln0_0_0.w;
  }
  workgroupBarrier();
  for (var step = 0u; step < 512u; step = step + 2u) {
    {
      let next = min(step + 1u, 512u - 1u);
      let i2_m00_0_0 = i32(next * 8u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
      let i2_n00_0_0 = i32(next * 8u + qn0 * 4u);
      let _four_v1_n00_0_0_0 = a1[u32(4096 * i1_n00 + i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
      let from_m = 0u * 264u + ty;
      let from_n = 0u * 264u + tx;
      {
        let x0 = w0[from_m + 0u];
        let x1 = w0[from_m + 16u];
        let y0 = w1[from_n + 0u];
        let y1 = w1[from_n + 16u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 33u];
        let x1 = w0[from_m + 49u];
        let y0 = w1[from_n + 33u];
        let y1 = w1[from_n + 49u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 66u];
        let x1 = w0[from_m + 82u];
        let y0 = w1[from_n + 66u];
        let y1 = w1[from_n + 82u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 99u];
        let x1 = w0[from_m + 115u];
        let y0 = w1[from_n + 99u];
        let y1 = w1[from_n + 115u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 132u];
        let x1 = w0[from_m + 148u];
        let y0 = w1[from_n + 132u];
        let y1 = w1[from_n + 148u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 165u];
        let x1 = w0[from_m + 181u];
        let y0 = w1[from_n + 165u];
        let y1 = w1[from_n + 181u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 198u];
        let x1 = w0[from_m + 214u];
        let y0 = w1[from_n + 198u];
        let y1 = w1[from_n + 214u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 231u];
        let x1 = w0[from_m + 247u];
        let y0 = w1[from_n + 231u];
        let y1 = w1[from_n + 247u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let at = 1u * 264u + qm0 * 132u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 33u][um0 & 3u] = lm0_0_0.y;
        w0[at + 66u][um0 & 3u] = lm0_0_0.z;
        w0[at + 99u][um0 & 3u] = lm0_0_0.w;
      }
      {
        let at = 1u * 264u + qn0 * 132u + un0 / 4u;
        w1[at + 0u][un0 & 3u] = ln0_0_0.x;
        w1[at + 33u][un0 & 3u] = ln0_0_0.y;
        w1[at + 66u][un0 & 3u] = ln0_0_0.z;
        w1[at + 99u][un0 & 3u] = ln0_0_0.w;
      }
      workgroupBarrier();
    }
    {
      let next = min(step + 1u + 1u, 512u - 1u);
      let i2_m00_0_0 = i32(next * 8u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(v0_m00_0_0_0, v0_m00_0_0_1, v0_m00_0_0_2, v0_m00_0_0_3);
      let i2_n00_0_0 = i32(next * 8u + qn0 * 4u);
      let _four_v1_n00_0_0_0 = a1[u32(4096 * i1_n00 + i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(v1_n00_0_0_0, v1_n00_0_0_1, v1_n00_0_0_2, v1_n00_0_0_3);
      let from_m = 1u * 264u + ty;
      let from_n = 1u * 264u + tx;
      {
        let x0 = w0[from_m + 0u];
        let x1 = w0[from_m + 16u];
        let y0 = w1[from_n + 0u];
        let y1 = w1[from_n + 16u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 33u];
        let x1 = w0[from_m + 49u];
        let y0 = w1[from_n + 33u];
        let y1 = w1[from_n + 49u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 66u];
        let x1 = w0[from_m + 82u];
        let y0 = w1[from_n + 66u];
        let y1 = w1[from_n + 82u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 99u];
        let x1 = w0[from_m + 115u];
        let y0 = w1[from_n + 99u];
        let y1 = w1[from_n + 115u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 132u];
        let x1 = w0[from_m + 148u];
        let y0 = w1[from_n + 132u];
        let y1 = w1[from_n + 148u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 165u];
        let x1 = w0[from_m + 181u];
        let y0 = w1[from_n + 165u];
        let y1 = w1[from_n + 181u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 198u];
        let x1 = w0[from_m + 214u];
        let y0 = w1[from_n + 198u];
        let y1 = w1[from_n + 214u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let x0 = w0[from_m + 231u];
        let x1 = w0[from_m + 247u];
        let y0 = w1[from_n + 231u];
        let y1 = w1[from_n + 247u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c0_1 = fma(vec4<f32>(x0.x), y1, c0_1);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c1_1 = fma(vec4<f32>(x0.y), y1, c1_1);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c2_1 = fma(vec4<f32>(x0.z), y1, c2_1);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
        c3_1 = fma(vec4<f32>(x0.w), y1, c3_1);
        c4_0 = fma(vec4<f32>(x1.x), y0, c4_0);
        c4_1 = fma(vec4<f32>(x1.x), y1, c4_1);
        c5_0 = fma(vec4<f32>(x1.y), y0, c5_0);
        c5_1 = fma(vec4<f32>(x1.y), y1, c5_1);
        c6_0 = fma(vec4<f32>(x1.z), y0, c6_0);
        c6_1 = fma(vec4<f32>(x1.z), y1, c6_1);
        c7_0 = fma(vec4<f32>(x1.w), y0, c7_0);
        c7_1 = fma(vec4<f32>(x1.w), y1, c7_1);
      }
      {
        let at = 0u * 264u + qm0 * 132u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 33u][um0 & 3u] = lm0_0_0.y;
        w0[at + 66u][um0 & 3u] = lm0_0_0.z;
        w0[at + 99u][um0 & 3u] = lm0_0_0.w;
      }
      {
        let at = 0u * 264u + qn0 * 132u + un0 / 4u;
        w1[at + 0u][un0 & 3u] = ln0_0_0.x;
        w1[at + 33u][un0 & 3u] = ln0_0_0.y;
        w1[at + 66u][un0 & 3u] = ln0_0_0.z;
        w1[at + 99u][un0 & 3u] = ln0_0_0.w;
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 64u;
      let i0 = i32(row);
      let v5_0 = _launder(c4_0.x) + v4_0;
      let v5_1 = _launder(c4_0.y) + v4_1;
      let v5_2 = _launder(c4_0.z) + v4_2;
      let v5_3 = _launder(c4_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 65u;
      let i0 = i32(row);
      let v5_0 = _launder(c5_0.x) + v4_0;
      let v5_1 = _launder(c5_0.y) + v4_1;
      let v5_2 = _launder(c5_0.z) + v4_2;
      let v5_3 = _launder(c5_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 66u;
      let i0 = i32(row);
      let v5_0 = _launder(c6_0.x) + v4_0;
      let v5_1 = _launder(c6_0.y) + v4_1;
      let v5_2 = _launder(c6_0.z) + v4_2;
      let v5_3 = _launder(c6_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 67u;
      let i0 = i32(row);
      let v5_0 = _launder(c7_0.x) + v4_0;
      let v5_1 = _launder(c7_0.y) + v4_1;
      let v5_2 = _launder(c7_0.z) + v4_2;
      let v5_3 = _launder(c7_0.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
  }
  {
    let col = n0 + tx * 4u + 64u;
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
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
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 64u;
      let i0 = i32(row);
      let v5_0 = _launder(c4_1.x) + v4_0;
      let v5_1 = _launder(c4_1.y) + v4_1;
      let v5_2 = _launder(c4_1.z) + v4_2;
      let v5_3 = _launder(c4_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 65u;
      let i0 = i32(row);
      let v5_0 = _launder(c5_1.x) + v4_0;
      let v5_1 = _launder(c5_1.y) + v4_1;
      let v5_2 = _launder(c5_1.z) + v4_2;
      let v5_3 = _launder(c5_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 66u;
      let i0 = i32(row);
      let v5_0 = _launder(c6_1.x) + v4_0;
      let v5_1 = _launder(c6_1.y) + v4_1;
      let v5_2 = _launder(c6_1.z) + v4_2;
      let v5_3 = _launder(c6_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
    {
      let row = m0 + ty * 4u + 67u;
      let i0 = i32(row);
      let v5_0 = _launder(c7_1.x) + v4_0;
      let v5_1 = _launder(c7_1.y) + v4_1;
      let v5_2 = _launder(c7_1.z) + v4_2;
      let v5_3 = _launder(c7_1.w) + v4_3;
      let v7_0 = max_f32(v5_0, v6);
      let v7_1 = max_f32(v5_1, v6);
      let v7_2 = max_f32(v5_2, v6);
      let v7_3 = max_f32(v5_3, v6);
      a3[u32(4096 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    }
  }
}
