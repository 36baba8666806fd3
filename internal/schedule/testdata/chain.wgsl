// pointwise i0:1000
// a0 in float32 aligned
// a1 value float32
// a2 out float32[1000] aligned
// a3 out bool[1000] aligned
// %0 float32{0} = Load a0[i0]
// %1 float32{} = Const 2
// %2 float32{0} = Mul %0 %1
// %3 float32{} = Scalar a1
// %4 float32{0} = Add %2 %3
// %5 float32{} = Const 0
// %6 bool{0} = Lt %5 %4
// %7 float32{0} = Where %6 %4 %5
// %8 float32{0} = Store %7 a2[i0]
// %9 float32{} = Const 1
// %10 bool{0} = Lt %9 %7
// %11 bool{0} = Store %10 a3[i0]

// Pass 0: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:false}], scratch []

struct _params {
  o0: i32,
  v1: f32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a2: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a3: array<u32>;

fn _launder2(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + _zero);
}

var<private> _zero: u32;

fn lt_f32(a: f32, b: f32) -> bool {
  return a < b && ordered(a, b);
}

fn ordered(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) <= 0x7f800000u;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let item = _group * 256u + _thread;
  let v5 = 0.0f;
  let v1 = 2.0f;
  let v3 = _p.v1;
  let v9 = 1.0f;
  if (item < 250u) {
    let i0 = i32(item * 4u);
    let _four_v0_0 = a0[u32(i0 + _p.o0) >> 2u];
    let v0_0 = _four_v0_0.x;
    let v0_1 = _four_v0_0.y;
    let v0_2 = _four_v0_0.z;
    let v0_3 = _four_v0_0.w;
    let v2_0 = v0_0 * v1;
    let v2_1 = v0_1 * v1;
    let v2_2 = v0_2 * v1;
    let v2_3 = v0_3 * v1;
    let v4_0 = v2_0 + v3;
    let v4_1 = v2_1 + v3;
    let v4_2 = v2_2 + v3;
    let v4_3 = v2_3 + v3;
    let v6_0 = lt_f32(v5, _launder2(v4_0));
    let v6_1 = lt_f32(v5, _launder2(v4_1));
    let v6_2 = lt_f32(v5, _launder2(v4_2));
    let v6_3 = lt_f32(v5, _launder2(v4_3));
    let v7_0 = select(bitcast<f32>(0u | _zero), v4_0, v6_0);
    let v7_1 = select(bitcast<f32>(0u | _zero), v4_1, v6_1);
    let v7_2 = select(bitcast<f32>(0u | _zero), v4_2, v6_2);
    let v7_3 = select(bitcast<f32>(0u | _zero), v4_3, v6_3);
    a2[u32(i0) >> 2u] = vec4<f32>(v7_0, v7_1, v7_2, v7_3);
    let v10_0 = lt_f32(v9, _launder2(v7_0));
    let v10_1 = lt_f32(v9, _launder2(v7_1));
    let v10_2 = lt_f32(v9, _launder2(v7_2));
    let v10_3 = lt_f32(v9, _launder2(v7_3));
    a3[u32(i0) >> 2u] = select(0u, 1u, v10_0) | (select(0u, 1u, v10_1) << 8u) | (select(0u, 1u, v10_2) << 16u) | (select(0u, 1u, v10_3) << 24u);
  }
}
