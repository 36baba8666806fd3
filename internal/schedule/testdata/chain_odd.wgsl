// pointwise i0:1001
// a0 in float16 aligned
// a1 value float32
// a2 out float16[1001] aligned
// a3 out bool[1001] aligned
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

// Pass 0: groups [4 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:false}], scratch []

struct Params {
  o0: i32,
  v1: f32,
}
@group(1) @binding(0) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a2: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> a3: array<atomic<u32>>;

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

fn launder2(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + zero);
}

fn lt_f32(a: f32, b: f32) -> bool {
  return a < b && ordered(a, b);
}

fn ordered(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) <= 0x7f800000u;
}

var<private> zero: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = id.x;
  zero = id.z;
  let item = group * 256u + thread;
  let v5 = 0.0f;
  let v1 = 2.0f;
  let v3 = p.v1;
  let v9 = 1.0f;
  if (item < 1001u) {
    let i0 = i32(item);
    let p_v0 = u32(i0 + p.o0);
    let v0 = unpack2x16float(a0[p_v0 >> 1u] >> ((p_v0 & 1u) * 16u)).x;
    let v2 = v0 * v1;
    let v4 = v2 + v3;
    let v6 = lt_f32(v5, launder2(v4));
    let v7 = select(bitcast<f32>(0u | zero), v4, v6);
    {
      let at = u32(i0);
      let bit = (at & 1u) * 16u;
      let to = &a2[at >> 1u];
      atomicAnd(to, ~(65535u << bit));
      atomicOr(to, f16_bits(v7) << bit);
    }
    let v10 = lt_f32(v9, launder2(v7));
    {
      let at = u32(i0);
      let bit = (at & 3u) * 8u;
      let to = &a3[at >> 2u];
      atomicAnd(to, ~(255u << bit));
      atomicOr(to, select(0u, 1u, v10) << bit);
    }
  }
}
