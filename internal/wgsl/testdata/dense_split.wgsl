// contract i0:1 batch i1:16 m i2:100 n i3:4096 k
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

struct Params {
  o0: i32,
  o1: i32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> a1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<f32>;
var<workgroup> w0: array<vec4<f32>, 96>;
var<workgroup> w1: array<vec4<f32>, 1024>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  let job = min(group, 127u);
  let batch = job / 2u % 1u;
  let split = job / 2u;
  let tile = job % 2u;
  let first = tile / 8u * 8u;
  let height = min(2u - first, 8u);
  let m0 = (first + tile % 8u % height) * 8u;
  let n0 = tile % 8u / height * 128u;
  let tx = thread % 32u;
  let ty = thread / 32u;
  var c000 = vec4<f32>();
  var c010 = vec4<f32>();
  var c020 = vec4<f32>();
  var c030 = vec4<f32>();
  let qm0 = thread % 4u;
  let um0 = thread / 4u;
  var lm0 = vec4<f32>();
  let i1_m0 = i32(m0 + min(um0, 7u));
  let qn0 = thread % 32u;
  let un0 = thread / 32u;
  var ln0 = vec4<f32>();
  let i2_n0 = i32(min(n0 + qn0 * 4u, 100u - 4u));
  let qn1 = (thread + 64u) % 32u;
  let un1 = (thread + 64u) / 32u;
  var ln1 = vec4<f32>();
  let i2_n1 = i32(min(n0 + qn1 * 4u, 100u - 4u));
  let qn2 = (thread + 128u) % 32u;
  let un2 = (thread + 128u) / 32u;
  var ln2 = vec4<f32>();
  let i2_n2 = i32(min(n0 + qn2 * 4u, 100u - 4u));
  let qn3 = (thread + 192u) % 32u;
  let un3 = (thread + 192u) / 32u;
  var ln3 = vec4<f32>();
  let i2_n3 = i32(min(n0 + qn3 * 4u, 100u - 4u));
  let qn4 = (thread + 256u) % 32u;
  let un4 = (thread + 256u) / 32u;
  var ln4 = vec4<f32>();
  let i2_n4 = i32(min(n0 + qn4 * 4u, 100u - 4u));
  let qn5 = (thread + 320u) % 32u;
  let un5 = (thread + 320u) / 32u;
  var ln5 = vec4<f32>();
  let i2_n5 = i32(min(n0 + qn5 * 4u, 100u - 4u));
  let qn6 = (thread + 384u) % 32u;
  let un6 = (thread + 384u) / 32u;
  var ln6 = vec4<f32>();
  let i2_n6 = i32(min(n0 + qn6 * 4u, 100u - 4u));
  let qn7 = (thread + 448u) % 32u;
  let un7 = (thread + 448u) / 32u;
  var ln7 = vec4<f32>();
  let i2_n7 = i32(min(n0 + qn7 * 4u, 100u - 4u));
  let begin = split * 4u;
  let end = min(begin + 4u, 256u);
  if (thread < 32u) {
    let i3_m0 = i32(begin * 16u + qm0 * 4u);
    let q_v0_m0_0 = a0[u32(4096 * i1_m0 + i3_m0 + p.o0) >> 2u];
    let v0_m0_0 = q_v0_m0_0.x;
    let v0_m0_1 = q_v0_m0_0.y;
    let v0_m0_2 = q_v0_m0_0.z;
    let v0_m0_3 = q_v0_m0_0.w;
    lm0 = vec4<f32>(v0_m0_0, v0_m0_1, v0_m0_2, v0_m0_3);
  }
  {
    let i3_n0 = i32(begin * 16u + un0);
    let q_v1_n0_0 = a1[u32(i2_n0 + 100 * i3_n0 + p.o1) >> 2u];
    let v1_n0_0 = q_v1_n0_0.x;
    let v1_n0_1 = q_v1_n0_0.y;
    let v1_n0_2 = q_v1_n0_0.z;
    let v1_n0_3 = q_v1_n0_0.w;
    ln0 = vec4<f32>(select(f32(0), v1_n0_0, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_1, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_2, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_3, n0 + qn0 * 4u + 0u < 100u));
  }
  {
    let i3_n1 = i32(begin * 16u + un1);
    let q_v1_n1_0 = a1[u32(i2_n1 + 100 * i3_n1 + p.o1) >> 2u];
    let v1_n1_0 = q_v1_n1_0.x;
    let v1_n1_1 = q_v1_n1_0.y;
    let v1_n1_2 = q_v1_n1_0.z;
    let v1_n1_3 = q_v1_n1_0.w;
    ln1 = vec4<f32>(select(f32(0), v1_n1_0, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_1, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_2, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_3, n0 + qn1 * 4u + 0u < 100u));
  }
  {
    let i3_n2 = i32(begin * 16u + un2);
    let q_v1_n2_0 = a1[u32(i2_n2 + 100 * i3_n2 + p.o1) >> 2u];
    let v1_n2_0 = q_v1_n2_0.x;
    let v1_n2_1 = q_v1_n2_0.y;
    let v1_n2_2 = q_v1_n2_0.z;
    let v1_n2_3 = q_v1_n2_0.w;
    ln2 = vec4<f32>(select(f32(0), v1_n2_0, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_1, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_2, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_3, n0 + qn2 * 4u + 0u < 100u));
  }
  {
    let i3_n3 = i32(begin * 16u + un3);
    let q_v1_n3_0 = a1[u32(i2_n3 + 100 * i3_n3 + p.o1) >> 2u];
    let v1_n3_0 = q_v1_n3_0.x;
    let v1_n3_1 = q_v1_n3_0.y;
    let v1_n3_2 = q_v1_n3_0.z;
    let v1_n3_3 = q_v1_n3_0.w;
    ln3 = vec4<f32>(select(f32(0), v1_n3_0, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_1, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_2, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_3, n0 + qn3 * 4u + 0u < 100u));
  }
  {
    let i3_n4 = i32(begin * 16u + un4);
    let q_v1_n4_0 = a1[u32(i2_n4 + 100 * i3_n4 + p.o1) >> 2u];
    let v1_n4_0 = q_v1_n4_0.x;
    let v1_n4_1 = q_v1_n4_0.y;
    let v1_n4_2 = q_v1_n4_0.z;
    let v1_n4_3 = q_v1_n4_0.w;
    ln4 = vec4<f32>(select(f32(0), v1_n4_0, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_1, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_2, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_3, n0 + qn4 * 4u + 0u < 100u));
  }
  {
    let i3_n5 = i32(begin * 16u + un5);
    let q_v1_n5_0 = a1[u32(i2_n5 + 100 * i3_n5 + p.o1) >> 2u];
    let v1_n5_0 = q_v1_n5_0.x;
    let v1_n5_1 = q_v1_n5_0.y;
    let v1_n5_2 = q_v1_n5_0.z;
    let v1_n5_3 = q_v1_n5_0.w;
    ln5 = vec4<f32>(select(f32(0), v1_n5_0, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_1, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_2, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_3, n0 + qn5 * 4u + 0u < 100u));
  }
  {
    let i3_n6 = i32(begin * 16u + un6);
    let q_v1_n6_0 = a1[u32(i2_n6 + 100 * i3_n6 + p.o1) >> 2u];
    let v1_n6_0 = q_v1_n6_0.x;
    let v1_n6_1 = q_v1_n6_0.y;
    let v1_n6_2 = q_v1_n6_0.z;
    let v1_n6_3 = q_v1_n6_0.w;
    ln6 = vec4<f32>(select(f32(0), v1_n6_0, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_1, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_2, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_3, n0 + qn6 * 4u + 0u < 100u));
  }
  {
    let i3_n7 = i32(begin * 16u + un7);
    let q_v1_n7_0 = a1[u32(i2_n7 + 100 * i3_n7 + p.o1) >> 2u];
    let v1_n7_0 = q_v1_n7_0.x;
    let v1_n7_1 = q_v1_n7_0.y;
    let v1_n7_2 = q_v1_n7_0.z;
    let v1_n7_3 = q_v1_n7_0.w;
    ln7 = vec4<f32>(select(f32(0), v1_n7_0, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_1, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_2, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_3, n0 + qn7 * 4u + 0u < 100u));
  }
  if (thread < 32u) {
    let at = 0u + qm0 * 12u + um0 / 4u;
    w0[at + 0u][um0 & 3u] = lm0.x;
    w0[at + 3u][um0 & 3u] = lm0.y;
    w0[at + 6u][um0 & 3u] = lm0.z;
    w0[at + 9u][um0 & 3u] = lm0.w;
  }
  {
    w1[0u + un0 * 32u + qn0] = ln0;
  }
  {
    w1[0u + un1 * 32u + qn1] = ln1;
  }
  {
    w1[0u + un2 * 32u + qn2] = ln2;
  }
  {
    w1[0u + un3 * 32u + qn3] = ln3;
  }
  {
    w1[0u + un4 * 32u + qn4] = ln4;
  }
  {
    w1[0u + un5 * 32u + qn5] = ln5;
  }
  {
    w1[0u + un6 * 32u + qn6] = ln6;
  }
  {
    w1[0u + un7 * 32u + qn7] = ln7;
  }
  workgroupBarrier();
  for (var step = begin; step < end; step++) {
    let odd = (step - begin) & 1u;
    if (step + 1u < end) {
      if (thread < 32u) {
        let i3_m0 = i32((step + 1u) * 16u + qm0 * 4u);
        let q_v0_m0_0 = a0[u32(4096 * i1_m0 + i3_m0 + p.o0) >> 2u];
        let v0_m0_0 = q_v0_m0_0.x;
        let v0_m0_1 = q_v0_m0_0.y;
        let v0_m0_2 = q_v0_m0_0.z;
        let v0_m0_3 = q_v0_m0_0.w;
        lm0 = vec4<f32>(v0_m0_0, v0_m0_1, v0_m0_2, v0_m0_3);
      }
      {
        let i3_n0 = i32((step + 1u) * 16u + un0);
        let q_v1_n0_0 = a1[u32(i2_n0 + 100 * i3_n0 + p.o1) >> 2u];
        let v1_n0_0 = q_v1_n0_0.x;
        let v1_n0_1 = q_v1_n0_0.y;
        let v1_n0_2 = q_v1_n0_0.z;
        let v1_n0_3 = q_v1_n0_0.w;
        ln0 = vec4<f32>(select(f32(0), v1_n0_0, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_1, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_2, n0 + qn0 * 4u + 0u < 100u), select(f32(0), v1_n0_3, n0 + qn0 * 4u + 0u < 100u));
      }
      {
        let i3_n1 = i32((step + 1u) * 16u + un1);
        let q_v1_n1_0 = a1[u32(i2_n1 + 100 * i3_n1 + p.o1) >> 2u];
        let v1_n1_0 = q_v1_n1_0.x;
        let v1_n1_1 = q_v1_n1_0.y;
        let v1_n1_2 = q_v1_n1_0.z;
        let v1_n1_3 = q_v1_n1_0.w;
        ln1 = vec4<f32>(select(f32(0), v1_n1_0, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_1, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_2, n0 + qn1 * 4u + 0u < 100u), select(f32(0), v1_n1_3, n0 + qn1 * 4u + 0u < 100u));
      }
      {
        let i3_n2 = i32((step + 1u) * 16u + un2);
        let q_v1_n2_0 = a1[u32(i2_n2 + 100 * i3_n2 + p.o1) >> 2u];
        let v1_n2_0 = q_v1_n2_0.x;
        let v1_n2_1 = q_v1_n2_0.y;
        let v1_n2_2 = q_v1_n2_0.z;
        let v1_n2_3 = q_v1_n2_0.w;
        ln2 = vec4<f32>(select(f32(0), v1_n2_0, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_1, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_2, n0 + qn2 * 4u + 0u < 100u), select(f32(0), v1_n2_3, n0 + qn2 * 4u + 0u < 100u));
      }
      {
        let i3_n3 = i32((step + 1u) * 16u + un3);
        let q_v1_n3_0 = a1[u32(i2_n3 + 100 * i3_n3 + p.o1) >> 2u];
        let v1_n3_0 = q_v1_n3_0.x;
        let v1_n3_1 = q_v1_n3_0.y;
        let v1_n3_2 = q_v1_n3_0.z;
        let v1_n3_3 = q_v1_n3_0.w;
        ln3 = vec4<f32>(select(f32(0), v1_n3_0, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_1, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_2, n0 + qn3 * 4u + 0u < 100u), select(f32(0), v1_n3_3, n0 + qn3 * 4u + 0u < 100u));
      }
      {
        let i3_n4 = i32((step + 1u) * 16u + un4);
        let q_v1_n4_0 = a1[u32(i2_n4 + 100 * i3_n4 + p.o1) >> 2u];
        let v1_n4_0 = q_v1_n4_0.x;
        let v1_n4_1 = q_v1_n4_0.y;
        let v1_n4_2 = q_v1_n4_0.z;
        let v1_n4_3 = q_v1_n4_0.w;
        ln4 = vec4<f32>(select(f32(0), v1_n4_0, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_1, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_2, n0 + qn4 * 4u + 0u < 100u), select(f32(0), v1_n4_3, n0 + qn4 * 4u + 0u < 100u));
      }
      {
        let i3_n5 = i32((step + 1u) * 16u + un5);
        let q_v1_n5_0 = a1[u32(i2_n5 + 100 * i3_n5 + p.o1) >> 2u];
        let v1_n5_0 = q_v1_n5_0.x;
        let v1_n5_1 = q_v1_n5_0.y;
        let v1_n5_2 = q_v1_n5_0.z;
        let v1_n5_3 = q_v1_n5_0.w;
        ln5 = vec4<f32>(select(f32(0), v1_n5_0, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_1, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_2, n0 + qn5 * 4u + 0u < 100u), select(f32(0), v1_n5_3, n0 + qn5 * 4u + 0u < 100u));
      }
      {
        let i3_n6 = i32((step + 1u) * 16u + un6);
        let q_v1_n6_0 = a1[u32(i2_n6 + 100 * i3_n6 + p.o1) >> 2u];
        let v1_n6_0 = q_v1_n6_0.x;
        let v1_n6_1 = q_v1_n6_0.y;
        let v1_n6_2 = q_v1_n6_0.z;
        let v1_n6_3 = q_v1_n6_0.w;
        ln6 = vec4<f32>(select(f32(0), v1_n6_0, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_1, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_2, n0 + qn6 * 4u + 0u < 100u), select(f32(0), v1_n6_3, n0 + qn6 * 4u + 0u < 100u));
      }
      {
        let i3_n7 = i32((step + 1u) * 16u + un7);
        let q_v1_n7_0 = a1[u32(i2_n7 + 100 * i3_n7 + p.o1) >> 2u];
        let v1_n7_0 = q_v1_n7_0.x;
        let v1_n7_1 = q_v1_n7_0.y;
        let v1_n7_2 = q_v1_n7_0.z;
        let v1_n7_3 = q_v1_n7_0.w;
        ln7 = vec4<f32>(select(f32(0), v1_n7_0, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_1, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_2, n0 + qn7 * 4u + 0u < 100u), select(f32(0), v1_n7_3, n0 + qn7 * 4u + 0u < 100u));
      }
    }
    let fm = odd * 48u + ty;
    let fn_ = odd * 512u + tx;
    {
      let a0 = w0[fm + 0u];
      let b0 = w1[fn_ + 0u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 3u];
      let b0 = w1[fn_ + 32u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 6u];
      let b0 = w1[fn_ + 64u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 9u];
      let b0 = w1[fn_ + 96u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 12u];
      let b0 = w1[fn_ + 128u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 15u];
      let b0 = w1[fn_ + 160u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 18u];
      let b0 = w1[fn_ + 192u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 21u];
      let b0 = w1[fn_ + 224u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 24u];
      let b0 = w1[fn_ + 256u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 27u];
      let b0 = w1[fn_ + 288u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 30u];
      let b0 = w1[fn_ + 320u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 33u];
      let b0 = w1[fn_ + 352u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 36u];
      let b0 = w1[fn_ + 384u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 39u];
      let b0 = w1[fn_ + 416u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 42u];
      let b0 = w1[fn_ + 448u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    {
      let a0 = w0[fm + 45u];
      let b0 = w1[fn_ + 480u];
      c000 = fma(vec4<f32>(a0.x), b0, c000);
      c010 = fma(vec4<f32>(a0.y), b0, c010);
      c020 = fma(vec4<f32>(a0.z), b0, c020);
      c030 = fma(vec4<f32>(a0.w), b0, c030);
    }
    if (step + 1u < end) {
      if (thread < 32u) {
        let at = (odd ^ 1u) * 48u + qm0 * 12u + um0 / 4u;
        w0[at + 0u][um0 & 3u] = lm0.x;
        w0[at + 3u][um0 & 3u] = lm0.y;
        w0[at + 6u][um0 & 3u] = lm0.z;
        w0[at + 9u][um0 & 3u] = lm0.w;
      }
      {
        w1[(odd ^ 1u) * 512u + un0 * 32u + qn0] = ln0;
      }
      {
        w1[(odd ^ 1u) * 512u + un1 * 32u + qn1] = ln1;
      }
      {
        w1[(odd ^ 1u) * 512u + un2 * 32u + qn2] = ln2;
      }
      {
        w1[(odd ^ 1u) * 512u + un3 * 32u + qn3] = ln3;
      }
      {
        w1[(odd ^ 1u) * 512u + un4 * 32u + qn4] = ln4;
      }
      {
        w1[(odd ^ 1u) * 512u + un5 * 32u + qn5] = ln5;
      }
      {
        w1[(odd ^ 1u) * 512u + un6 * 32u + qn6] = ln6;
      }
      {
        w1[(odd ^ 1u) * 512u + un7 * 32u + qn7] = ln7;
      }
    }
    workgroupBarrier();
  }
  {
    let col = n0 + tx * 4u + 0u;
    let i2 = i32(min(col, 100u - 4u));
    {
      let row = m0 + ty * 4u + 0u;
      let i1 = i32(row);
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = c000.x;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = c000.y;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = c000.z;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = c000.w;
      }
    }
    {
      let row = m0 + ty * 4u + 1u;
      let i1 = i32(row);
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = c010.x;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = c010.y;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = c010.z;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = c010.w;
      }
    }
    {
      let row = m0 + ty * 4u + 2u;
      let i1 = i32(row);
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = c020.x;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = c020.y;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = c020.z;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = c020.w;
      }
    }
    {
      let row = m0 + ty * 4u + 3u;
      let i1 = i32(row);
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 0u] = c030.x;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 1u] = c030.y;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 2u] = c030.z;
      }
      if (col + 0u < 100u) {
        s0[((split * 1u + batch) * 16u + row) * 100u + col + 3u] = c030.w;
      }
    }
  }
}

// Pass 1: groups [2 1 1], bindings [{Arg:-1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:2 Offset:true}], scratch [409600]

struct Params {
  o2: i32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> s0: array<f32>;
@group(0) @binding(1) var<storage, read> a2: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a3: array<vec4<f32>>;

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, is_nan(b)), a, is_nan(a));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  let item = group * 256u + thread;
  let v6 = 0.0f;
  if (item < 400u) {
    let fi2 = item * 4u;
    let i2 = i32(fi2 % 100u);
    let i1 = i32(fi2 / 100u);
    var v3_0 = f32(0);
    for (var n = 0; n < 64; n++) {
      v3_0 += s0[n * 1600 + 100 * i1 + i2];
    }
    var v3_1 = f32(0);
    for (var n = 0; n < 64; n++) {
      v3_1 += s0[n * 1600 + 100 * i1 + i2 + 1];
    }
    var v3_2 = f32(0);
    for (var n = 0; n < 64; n++) {
      v3_2 += s0[n * 1600 + 100 * i1 + i2 + 2];
    }
    var v3_3 = f32(0);
    for (var n = 0; n < 64; n++) {
      v3_3 += s0[n * 1600 + 100 * i1 + i2 + 3];
    }
    let q_v4_0 = a2[u32(i2 + p.o2) >> 2u];
    let v4_0 = q_v4_0.x;
    let v4_1 = q_v4_0.y;
    let v4_2 = q_v4_0.z;
    let v4_3 = q_v4_0.w;
    let v5_0 = v3_0 + v4_0;
    let v5_1 = v3_1 + v4_1;
    let v5_2 = v3_2 + v4_2;
    let v5_3 = v3_3 + v4_3;
    let v7_0 = max_f32(v5_0, v6);
    let v7_1 = max_f32(v5_1, v6);
    let v7_2 = max_f32(v5_2, v6);
    let v7_3 = max_f32(v5_3, v6);
    a3[u32(100 * i1 + i2) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
  }
}
