// contraction i0:8 m i1:28 m i2:28 m i3:32 n i4:16 k i5:3 k i6:3 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 out float32[200704] aligned
// %0 float32{0 1 2 4 5 6} = Load a0[12544*i0 + 28*i1 + i2 + 784*i4 + 28*i5 + i6 - 29; 0 <= i1 + i5 - 1 <28; 0 <= i2 + i6 - 1 <28; else 0]
// %1 float32{3 4 5 6} = Load a1[144*i3 + 9*i4 + 3*i5 + i6]
// %2 float32{0 1 2 3 4 5 6} = Mul %0 %1
// %3 float32{0 1 2 3} = Sum %2 over {4 5 6}
// %4 float32{0 1 2 3} = Store %3 a2[25088*i0 + 28*i1 + i2 + 784*i3]

// Pass 0: groups [98 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true}], params [{Arg:1 Offset:true} {Arg:0 Offset:true}], scratch []

struct _params {
  o1: i32,
  o0: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a1: array<f32>;
@group(0) @binding(1) var<storage, read> a0: array<f32>;
@group(0) @binding(2) var<storage, read_write> a2: array<vec4<f32>>;
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
  let batch = job / 98u % 1u;
  let split = job / 98u;
  let tile = job % 98u;
  let first = tile / 784u * 8u;
  let height = min(1u - first, 8u);
  let m0 = (first + tile % 784u % height) * 32u;
  let n0 = tile % 784u / height * 64u;
  let ty = _thread / 64u * 4u + (_thread % 2u + _thread / 16u % 2u * 2u);
  let tx = _thread / 32u % 2u * 8u + _thread / 2u % 8u;
  var c0_0 = vec4<f32>();
  var c1_0 = vec4<f32>();
  var c2_0 = vec4<f32>();
  var c3_0 = vec4<f32>();
  let qm0 = _thread / 16u;
  let um0 = _thread % 16u;
  let i3_m00 = i32(m0 + qm0 * 4u);
  let qn0 = _thread % 16u;
  let un0 = _thread / 16u;
  let fi2_n00 = n0 + qn0 * 4u;
  let i2_n00 = i32(fi2_n00 % 28u);
  let fi1_n00 = fi2_n00 / 28u;
  let i1_n00 = i32(fi1_n00 % 28u);
  let i0_n00 = i32(fi1_n00 / 28u);
  let qn1 = (_thread + 128u) % 16u;
  let un1 = (_thread + 128u) / 16u;
  let fi2_n10 = n0 + qn1 * 4u;
  let i2_n10 = i32(fi2_n10 % 28u);
  let fi1_n10 = fi2_n10 / 28u;
  let i1_n10 = i32(fi1_n10 % 28u);
  let i0_n10 = i32(fi1_n10 / 28u);
  let fi6_m00_0_0 = 0u * 16u / 16u % 9u;
  let i6_m00_0_0 = i32(fi6_m00_0_0 % 3u);
  let i5_m00_0_0 = i32(fi6_m00_0_0 / 3u);
  let i4_m00_0_0 = i32(0u * 16u / 16u / 9u * 16u + um0 * 1u);
  let v1_m00_0_0_0 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1];
  let v1_m00_0_0_1 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 144];
  let v1_m00_0_0_2 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 288];
  let v1_m00_0_0_3 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 432];
  let lm0_0_0 = vec4<f32>(v1_m00_0_0_0, v1_m00_0_0_1, v1_m00_0_0_2, v1_m00_0_0_3);
  let fi6_n00_0_0 = 0u * 16u / 16u % 9u;
  let i6_n00_0_0 = i32(fi6_n00_0_0 % 3u);
  let i5_n00_0_0 = i32(fi6_n00_0_0 / 3u);
  let i4_n00_0_0 = i32(0u * 16u / 16u / 9u * 16u + un0 * 1u);
  var v0_n00_0_0_0 = bitcast<f32>(0u | _zero);
  if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1) < 28u) {
    v0_n00_0_0_0 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29];
  }
  var v0_n00_0_0_1 = bitcast<f32>(0u | _zero);
  if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 1) < 28u) {
    v0_n00_0_0_1 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 1];
  }
  var v0_n00_0_0_2 = bitcast<f32>(0u | _zero);
  if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 2) < 28u) {
    v0_n00_0_0_2 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 2];
  }
  var v0_n00_0_0_3 = bitcast<f32>(0u | _zero);
  if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 3) < 28u) {
    v0_n00_0_0_3 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 3];
  }
  let ln0_0_0 = vec4<f32>(v0_n00_0_0_0, v0_n00_0_0_1, v0_n00_0_0_2, v0_n00_0_0_3);
  let fi6_n10_0_0 = 0u * 16u / 16u % 9u;
  let i6_n10_0_0 = i32(fi6_n10_0_0 % 3u);
  let i5_n10_0_0 = i32(fi6_n10_0_0 / 3u);
  let i4_n10_0_0 = i32(0u * 16u / 16u / 9u * 16u + un1 * 1u);
  var v0_n10_0_0_0 = bitcast<f32>(0u | _zero);
  if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1) < 28u) {
    v0_n10_0_0_0 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29];
  }
  var v0_n10_0_0_1 = bitcast<f32>(0u | _zero);
  if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 1) < 28u) {
    v0_n10_0_0_1 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 1];
  }
  var v0_n10_0_0_2 = bitcast<f32>(0u | _zero);
  if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 2) < 28u) {
    v0_n10_0_0_2 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 2];
  }
  var v0_n10_0_0_3 = bitcast<f32>(0u | _zero);
  if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 3) < 28u) {
    v0_n10_0_0_3 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 3];
  }
  let ln1_0_0 = vec4<f32>(v0_n10_0_0_0, v0_n10_0_0_1, v0_n10_0_0_2, v0_n10_0_0_3);
  {
    w0[0u * 144u + um0 * 9u + qm0] = lm0_0_0;
  }
  {
    w1[0u * 256u + un0 * 16u + qn0] = ln0_0_0;
  }
  {
    w1[0u * 256u + un1 * 16u + qn1] = ln1_0_0;
  }
  workgroupBarrier();
  for (var step = 0u; step < 9u; step = step + 1u) {
    let now = (step - 0u) % 2u;
    let next = min(step + 1u, 9u - 1u);
    let fi6_m00_0_0 = next * 16u / 16u % 9u;
    let i6_m00_0_0 = i32(fi6_m00_0_0 % 3u);
    let i5_m00_0_0 = i32(fi6_m00_0_0 / 3u);
    let i4_m00_0_0 = i32(next * 16u / 16u / 9u * 16u + um0 * 1u);
    let v1_m00_0_0_0 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1];
    let v1_m00_0_0_1 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 144];
    let v1_m00_0_0_2 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 288];
    let v1_m00_0_0_3 = a1[144 * i3_m00 + 9 * i4_m00_0_0 + 3 * i5_m00_0_0 + i6_m00_0_0 + _p.o1 + 432];
    let lm0_0_0 = vec4<f32>(v1_m00_0_0_0, v1_m00_0_0_1, v1_m00_0_0_2, v1_m00_0_0_3);
    let fi6_n00_0_0 = next * 16u / 16u % 9u;
    let i6_n00_0_0 = i32(fi6_n00_0_0 % 3u);
    let i5_n00_0_0 = i32(fi6_n00_0_0 / 3u);
    let i4_n00_0_0 = i32(next * 16u / 16u / 9u * 16u + un0 * 1u);
    var v0_n00_0_0_0 = bitcast<f32>(0u | _zero);
    if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1) < 28u) {
      v0_n00_0_0_0 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29];
    }
    var v0_n00_0_0_1 = bitcast<f32>(0u | _zero);
    if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 1) < 28u) {
      v0_n00_0_0_1 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 1];
    }
    var v0_n00_0_0_2 = bitcast<f32>(0u | _zero);
    if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 2) < 28u) {
      v0_n00_0_0_2 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 2];
    }
    var v0_n00_0_0_3 = bitcast<f32>(0u | _zero);
    if (u32(i1_n00 + i5_n00_0_0 - 1) < 28u && u32(i2_n00 + i6_n00_0_0 - 1 + 3) < 28u) {
      v0_n00_0_0_3 = a0[12544 * i0_n00 + 28 * i1_n00 + i2_n00 + 784 * i4_n00_0_0 + 28 * i5_n00_0_0 + i6_n00_0_0 + _p.o0 - 29 + 3];
    }
    let ln0_0_0 = vec4<f32>(v0_n00_0_0_0, v0_n00_0_0_1, v0_n00_0_0_2, v0_n00_0_0_3);
    let fi6_n10_0_0 = next * 16u / 16u % 9u;
    let i6_n10_0_0 = i32(fi6_n10_0_0 % 3u);
    let i5_n10_0_0 = i32(fi6_n10_0_0 / 3u);
    let i4_n10_0_0 = i32(next * 16u / 16u / 9u * 16u + un1 * 1u);
    var v0_n10_0_0_0 = bitcast<f32>(0u | _zero);
    if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1) < 28u) {
      v0_n10_0_0_0 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29];
    }
    var v0_n10_0_0_1 = bitcast<f32>(0u | _zero);
    if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 1) < 28u) {
      v0_n10_0_0_1 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 1];
    }
    var v0_n10_0_0_2 = bitcast<f32>(0u | _zero);
    if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 2) < 28u) {
      v0_n10_0_0_2 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 2];
    }
    var v0_n10_0_0_3 = bitcast<f32>(0u | _zero);
    if (u32(i1_n10 + i5_n10_0_0 - 1) < 28u && u32(i2_n10 + i6_n10_0_0 - 1 + 3) < 28u) {
      v0_n10_0_0_3 = a0[12544 * i0_n10 + 28 * i1_n10 + i2_n10 + 784 * i4_n10_0_0 + 28 * i5_n10_0_0 + i6_n10_0_0 + _p.o0 - 29 + 3];
    }
    let ln1_0_0 = vec4<f32>(v0_n10_0_0_0, v0_n10_0_0_1, v0_n10_0_0_2, v0_n10_0_0_3);
    let from_m = now * 144u + ty;
    let from_n = now * 256u + tx;
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
    let then = (step - 0u + 1u) % 2u;
    {
      w0[then * 144u + um0 * 9u + qm0] = lm0_0_0;
    }
    {
      w1[then * 256u + un0 * 16u + qn0] = ln0_0_0;
    }
    {
      w1[then * 256u + un1 * 16u + qn1] = ln1_0_0;
    }
    workgroupBarrier();
  }
  {
    let col = n0 + tx * 4u + 0u;
    let fi2 = col;
    let i2 = i32(fi2 % 28u);
    let fi1 = fi2 / 28u;
    let i1 = i32(fi1 % 28u);
    let i0 = i32(fi1 / 28u);
    {
      let row = m0 + ty * 4u + 0u;
      let i3 = i32(row);
      a2[u32(25088 * i0 + 28 * i1 + i2 + 784 * i3) >> 2u] = vec4<f32>(_launder(c0_0.x), _launder(c0_0.y), _launder(c0_0.z), _launder(c0_0.w));
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i3 = i32(row);
      a2[u32(25088 * i0 + 28 * i1 + i2 + 784 * i3) >> 2u] = vec4<f32>(_launder(c1_0.x), _launder(c1_0.y), _launder(c1_0.z), _launder(c1_0.w));
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i3 = i32(row);
      a2[u32(25088 * i0 + 28 * i1 + i2 + 784 * i3) >> 2u] = vec4<f32>(_launder(c2_0.x), _launder(c2_0.y), _launder(c2_0.z), _launder(c2_0.w));
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i3 = i32(row);
      a2[u32(25088 * i0 + 28 * i1 + i2 + 784 * i3) >> 2u] = vec4<f32>(_launder(c3_0.x), _launder(c3_0.y), _launder(c3_0.z), _launder(c3_0.w));
    }
  }
}
