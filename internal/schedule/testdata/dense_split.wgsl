// contraction i0:1 batch i1:16 m i2:100 n i3:4096 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[1600] aligned
// %0 float32{0 1 3} = Load a0[65536*i0 + 4096*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 100*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[1600*i0 + 100*i1 + i2]

// Pass 0: groups [128 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:-1 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true}], scratch [409600]

struct _params {
  o0: i32,
  o1: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<f32>;
var<workgroup> w0: array<vec4<f32>, 288>;
var<workgroup> w1: array<vec4<f32>, 512>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

var<private> _zero: u32;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let job = _group;
  let batch = job / 2u % 1u;
  let split = job / 2u;
  let tile = job % 2u;
  let first = tile / 16u * 8u;
  let height = min(1u - first, 8u);
  let m0 = (first + tile % 16u % height) * 32u;
  let n0 = tile % 16u / height * 64u;
  let ty = _thread / 64u * 4u + (_thread % 2u + _thread / 16u % 2u * 2u);
  let tx = _thread / 32u % 2u * 8u + _thread / 2u % 8u;
  var c0_0 = vec4<f32>();
  var c1_0 = vec4<f32>();
  var c2_0 = vec4<f32>();
  var c3_0 = vec4<f32>();
  let qm0 = _thread % 4u;
  let um0 = _thread / 4u;
  let i0_m00 = i32(min(m0 + um0 * 1u, 16u - 1u));
  let qn0 = _thread % 16u;
  let un0 = _thread / 16u;
  let i1_n00 = i32(min(n0 + qn0 * 4u, 100u - 4u));
  let qn1 = (_thread + 128u) % 16u;
  let un1 = (_thread + 128u) / 16u;
  let i1_n10 = i32(min(n0 + qn1 * 4u, 100u - 4u));
  let begin = split * 4u;
  let end = min(begin + 4u, 256u);
  let i2_m00_0_0 = i32(begin * 16u + qm0 * 4u);
  let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
  let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
  let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
  let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
  let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
  let lm0_0_0 = vec4<f32>(select(0.0f, v0_m00_0_0_0, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_1, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_2, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_3, m0 + um0 * 1u < 16u));
  let i2_n00_0_0 = i32(begin * 16u + un0 * 1u);
  let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 100 * i2_n00_0_0 + _p.o1) >> 2u];
  let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
  let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
  let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
  let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
  let ln0_0_0 = vec4<f32>(select(0.0f, v1_n00_0_0_0, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_1, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_2, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_3, n0 + qn0 * 4u < 100u));
  let i2_n10_0_0 = i32(begin * 16u + un1 * 1u);
  let _four_v1_n10_0_0_0 = a1[u32(i1_n10 + 100 * i2_n10_0_0 + _p.o1) >> 2u];
  let v1_n10_0_0_0 = _four_v1_n10_0_0_0.x;
  let v1_n10_0_0_1 = _four_v1_n10_0_0_0.y;
  let v1_n10_0_0_2 = _four_v1_n10_0_0_0.z;
  let v1_n10_0_0_3 = _four_v1_n10_0_0_0.w;
  let ln1_0_0 = vec4<f32>(select(0.0f, v1_n10_0_0_0, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_1, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_2, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_3, n0 + qn1 * 4u < 100u));
  {
    let at = 0u * 144u + qm0 * 36u + um0 / 4u;
    w0[at + 0u][um0 & 3u] = lm0_0_0.x;
    w0[at + 9u][um0 & 3u] = lm0_0_0.y;
    w0[at + 18u][um0 & 3u] = lm0_0_0.z;
    w0[at + 27u][um0 & 3u] = lm0_0_0.w;
  }
  {
    w1[0u * 256u + un0 * 16u + qn0] = ln0_0_0;
  }
  {
    w1[0u * 256u + un1 * 16u + qn1] = ln1_0_0;
  }
  workgroupBarrier();
  for (var step = begin; step < end; step = step + 2u) {
    {
      let next = min(step + 1u, end - 1u);
      let i2_m00_0_0 = i32(next * 16u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(select(0.0f, v0_m00_0_0_0, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_1, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_2, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_3, m0 + um0 * 1u < 16u));
      let i2_n00_0_0 = i32(next * 16u + un0 * 1u);
      let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 100 * i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(select(0.0f, v1_n00_0_0_0, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_1, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_2, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_3, n0 + qn0 * 4u < 100u));
      let i2_n10_0_0 = i32(next * 16u + un1 * 1u);
      let _four_v1_n10_0_0_0 = a1[u32(i1_n10 + 100 * i2_n10_0_0 + _p.o1) >> 2u];
      let v1_n10_0_0_0 = _four_v1_n10_0_0_0.x;
      let v1_n10_0_0_1 = _four_v1_n10_0_0_0.y;
      let v1_n10_0_0_2 = _four_v1_n10_0_0_0.z;
      let v1_n10_0_0_3 = _four_v1_n10_0_0_0.w;
      let ln1_0_0 = vec4<f32>(select(0.0f, v1_n10_0_0_0, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_1, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_2, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_3, n0 + qn1 * 4u < 100u));
      let from_m = 0u * 144u + ty;
      let from_n = 0u * 256u + tx;
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
        let y0 = w1[from_n + 16u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 18u];
        let y0 = w1[from_n + 32u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 27u];
        let y0 = w1[from_n + 48u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 36u];
        let y0 = w1[from_n + 64u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 45u];
        let y0 = w1[from_n + 80u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 54u];
        let y0 = w1[from_n + 96u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 63u];
        let y0 = w1[from_n + 112u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 72u];
        let y0 = w1[from_n + 128u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 81u];
        let y0 = w1[from_n + 144u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 90u];
        let y0 = w1[from_n + 160u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 99u];
        let y0 = w1[from_n + 176u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 108u];
        let y0 = w1[from_n + 192u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 117u];
        let y0 = w1[from_n + 208u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 126u];
        let y0 = w1[from_n + 224u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 135u];
        let y0 = w1[from_n + 240u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let at = 1u * 144u + qm0 * 36u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 9u][um0 & 3u] = lm0_0_0.y;
        w0[at + 18u][um0 & 3u] = lm0_0_0.z;
        w0[at + 27u][um0 & 3u] = lm0_0_0.w;
      }
      {
        w1[1u * 256u + un0 * 16u + qn0] = ln0_0_0;
      }
      {
        w1[1u * 256u + un1 * 16u + qn1] = ln1_0_0;
      }
      workgroupBarrier();
    }
    {
      let next = min(step + 1u + 1u, end - 1u);
      let i2_m00_0_0 = i32(next * 16u + qm0 * 4u);
      let _four_v0_m00_0_0_0 = a0[u32(4096 * i0_m00 + i2_m00_0_0 + _p.o0) >> 2u];
      let v0_m00_0_0_0 = _four_v0_m00_0_0_0.x;
      let v0_m00_0_0_1 = _four_v0_m00_0_0_0.y;
      let v0_m00_0_0_2 = _four_v0_m00_0_0_0.z;
      let v0_m00_0_0_3 = _four_v0_m00_0_0_0.w;
      let lm0_0_0 = vec4<f32>(select(0.0f, v0_m00_0_0_0, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_1, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_2, m0 + um0 * 1u < 16u), select(0.0f, v0_m00_0_0_3, m0 + um0 * 1u < 16u));
      let i2_n00_0_0 = i32(next * 16u + un0 * 1u);
      let _four_v1_n00_0_0_0 = a1[u32(i1_n00 + 100 * i2_n00_0_0 + _p.o1) >> 2u];
      let v1_n00_0_0_0 = _four_v1_n00_0_0_0.x;
      let v1_n00_0_0_1 = _four_v1_n00_0_0_0.y;
      let v1_n00_0_0_2 = _four_v1_n00_0_0_0.z;
      let v1_n00_0_0_3 = _four_v1_n00_0_0_0.w;
      let ln0_0_0 = vec4<f32>(select(0.0f, v1_n00_0_0_0, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_1, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_2, n0 + qn0 * 4u < 100u), select(0.0f, v1_n00_0_0_3, n0 + qn0 * 4u < 100u));
      let i2_n10_0_0 = i32(next * 16u + un1 * 1u);
      let _four_v1_n10_0_0_0 = a1[u32(i1_n10 + 100 * i2_n10_0_0 + _p.o1) >> 2u];
      let v1_n10_0_0_0 = _four_v1_n10_0_0_0.x;
      let v1_n10_0_0_1 = _four_v1_n10_0_0_0.y;
      let v1_n10_0_0_2 = _four_v1_n10_0_0_0.z;
      let v1_n10_0_0_3 = _four_v1_n10_0_0_0.w;
      let ln1_0_0 = vec4<f32>(select(0.0f, v1_n10_0_0_0, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_1, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_2, n0 + qn1 * 4u < 100u), select(0.0f, v1_n10_0_0_3, n0 + qn1 * 4u < 100u));
      let from_m = 1u * 144u + ty;
      let from_n = 1u * 256u + tx;
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
        let y0 = w1[from_n + 16u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 18u];
        let y0 = w1[from_n + 32u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 27u];
        let y0 = w1[from_n + 48u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 36u];
        let y0 = w1[from_n + 64u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 45u];
        let y0 = w1[from_n + 80u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 54u];
        let y0 = w1[from_n + 96u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 63u];
        let y0 = w1[from_n + 112u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 72u];
        let y0 = w1[from_n + 128u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 81u];
        let y0 = w1[from_n + 144u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 90u];
        let y0 = w1[from_n + 160u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 99u];
        let y0 = w1[from_n + 176u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 108u];
        let y0 = w1[from_n + 192u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 117u];
        let y0 = w1[from_n + 208u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 126u];
        let y0 = w1[from_n + 224u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let x0 = w0[from_m + 135u];
        let y0 = w1[from_n + 240u];
        c0_0 = fma(vec4<f32>(x0.x), y0, c0_0);
        c1_0 = fma(vec4<f32>(x0.y), y0, c1_0);
        c2_0 = fma(vec4<f32>(x0.z), y0, c2_0);
        c3_0 = fma(vec4<f32>(x0.w), y0, c3_0);
      }
      {
        let at = 0u * 144u + qm0 * 36u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0_0_0.x;
        w0[at + 9u][um0 & 3u] = lm0_0_0.y;
        w0[at + 18u][um0 & 3u] = lm0_0_0.z;
        w0[at + 27u][um0 & 3u] = lm0_0_0.w;
      }
      {
        w1[0u * 256u + un0 * 16u + qn0] = ln0_0_0;
      }
      {
        w1[0u * 256u + un1 * 16u + qn1] = ln1_0_0;
      }
      workgroupBarrier();
    }
  }
  {
    let col = n0 + tx * 4u + 0u;
    let i1 = i32(min(col, 100u - 4u));
    {
      let row = m0 + ty * 4u + 0u;
      let i0 = i32(min(row, 16u - 1u));
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = _launder(c0_0.x);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = _launder(c0_0.y);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = _launder(c0_0.z);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = _launder(c0_0.w);
      }
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i0 = i32(min(row, 16u - 1u));
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = _launder(c1_0.x);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = _launder(c1_0.y);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = _launder(c1_0.z);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = _launder(c1_0.w);
      }
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i0 = i32(min(row, 16u - 1u));
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = _launder(c2_0.x);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = _launder(c2_0.y);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = _launder(c2_0.z);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = _launder(c2_0.w);
      }
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i0 = i32(min(row, 16u - 1u));
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = _launder(c3_0.x);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = _launder(c3_0.y);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = _launder(c3_0.z);
      }
      if (row < 16u && col < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = _launder(c3_0.w);
      }
    }
  }
}

// Pass 1: groups [2 1 1], bindings [{Arg:-1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:2 Offset:true}], scratch [409600]

struct _params {
  o2: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> s0: array<f32>;
@group(0) @binding(1) var<storage, read> a2: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a3: array<vec4<f32>>;

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
  if (item < 400u) {
    let fi1 = item * 4u;
    let i1 = i32(fi1 % 100u);
    let i0 = i32(fi1 / 100u);
    var v3_0 = 0.0f;
    var v3_1 = 0.0f;
    var v3_2 = 0.0f;
    var v3_3 = 0.0f;
    for (var n = 0; n < 64; n = n + 8) {
      let k3_0_0 = s0[n * 1600 + (100 * i0 + i1)];
      let k3_1_0 = s0[n * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_0 = s0[n * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_0 = s0[n * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_1 = s0[(n + 1) * 1600 + (100 * i0 + i1)];
      let k3_1_1 = s0[(n + 1) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_1 = s0[(n + 1) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_1 = s0[(n + 1) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_2 = s0[(n + 2) * 1600 + (100 * i0 + i1)];
      let k3_1_2 = s0[(n + 2) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_2 = s0[(n + 2) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_2 = s0[(n + 2) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_3 = s0[(n + 3) * 1600 + (100 * i0 + i1)];
      let k3_1_3 = s0[(n + 3) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_3 = s0[(n + 3) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_3 = s0[(n + 3) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_4 = s0[(n + 4) * 1600 + (100 * i0 + i1)];
      let k3_1_4 = s0[(n + 4) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_4 = s0[(n + 4) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_4 = s0[(n + 4) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_5 = s0[(n + 5) * 1600 + (100 * i0 + i1)];
      let k3_1_5 = s0[(n + 5) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_5 = s0[(n + 5) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_5 = s0[(n + 5) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_6 = s0[(n + 6) * 1600 + (100 * i0 + i1)];
      let k3_1_6 = s0[(n + 6) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_6 = s0[(n + 6) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_6 = s0[(n + 6) * 1600 + (100 * i0 + i1 + 3)];
      let k3_0_7 = s0[(n + 7) * 1600 + (100 * i0 + i1)];
      let k3_1_7 = s0[(n + 7) * 1600 + (100 * i0 + i1 + 1)];
      let k3_2_7 = s0[(n + 7) * 1600 + (100 * i0 + i1 + 2)];
      let k3_3_7 = s0[(n + 7) * 1600 + (100 * i0 + i1 + 3)];
      v3_0 = v3_0 + k3_0_0;
      v3_1 = v3_1 + k3_1_0;
      v3_2 = v3_2 + k3_2_0;
      v3_3 = v3_3 + k3_3_0;
      v3_0 = v3_0 + k3_0_1;
      v3_1 = v3_1 + k3_1_1;
      v3_2 = v3_2 + k3_2_1;
      v3_3 = v3_3 + k3_3_1;
      v3_0 = v3_0 + k3_0_2;
      v3_1 = v3_1 + k3_1_2;
      v3_2 = v3_2 + k3_2_2;
      v3_3 = v3_3 + k3_3_2;
      v3_0 = v3_0 + k3_0_3;
      v3_1 = v3_1 + k3_1_3;
      v3_2 = v3_2 + k3_2_3;
      v3_3 = v3_3 + k3_3_3;
      v3_0 = v3_0 + k3_0_4;
      v3_1 = v3_1 + k3_1_4;
      v3_2 = v3_2 + k3_2_4;
      v3_3 = v3_3 + k3_3_4;
      v3_0 = v3_0 + k3_0_5;
      v3_1 = v3_1 + k3_1_5;
      v3_2 = v3_2 + k3_2_5;
      v3_3 = v3_3 + k3_3_5;
      v3_0 = v3_0 + k3_0_6;
      v3_1 = v3_1 + k3_1_6;
      v3_2 = v3_2 + k3_2_6;
      v3_3 = v3_3 + k3_3_6;
      v3_0 = v3_0 + k3_0_7;
      v3_1 = v3_1 + k3_1_7;
      v3_2 = v3_2 + k3_2_7;
      v3_3 = v3_3 + k3_3_7;
    }
    let _four_v4_0 = a2[u32(i1 + _p.o2) >> 2u];
    let v4_0 = _four_v4_0.x;
    let v4_1 = _four_v4_0.y;
    let v4_2 = _four_v4_0.z;
    let v4_3 = _four_v4_0.w;
    let v5_0 = _launder(v3_0) + v4_0;
    let v5_1 = _launder(v3_1) + v4_1;
    let v5_2 = _launder(v3_2) + v4_2;
    let v5_3 = _launder(v3_3) + v4_3;
    let v7_0 = max_f32(v5_0, v6);
    let v7_1 = max_f32(v5_1, v6);
    let v7_2 = max_f32(v5_2, v6);
    let v7_3 = max_f32(v5_3, v6);
    a3[u32(100 * i0 + i1) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
  }
}
