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

struct _params {
  o0: i32,
  v1: f32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a2: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> a3: array<atomic<u32>>;

fn _launder2(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + _zero);
}

var<private> _zero: u32;

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
  if (item < 1001u) {
    let i0 = i32(item);
    let _at_v0 = u32(i0 + _p.o0);
    let v0 = unpack2x16float(a0[_at_v0 >> 1u] >> ((_at_v0 & 1u) * 16u)).x;
    let v2 = v0 * v1;
    let v4 = v2 + v3;
    let v6 = lt_f32(v5, _launder2(v4));
    let v7 = select(bitcast<f32>(0u | _zero), v4, v6);
    {
      let _at = u32(i0);
      let _bit = (_at & 1u) * 16u;
      let _to = &a2[_at >> 1u];
      atomicAnd(_to, ~(65535u << _bit));
      atomicOr(_to, f16_bits(v7) << _bit);
    }
    let v10 = lt_f32(v9, _launder2(v7));
    {
      let _at = u32(i0);
      let _bit = (_at & 3u) * 8u;
      let _to = &a3[_at >> 2u];
      atomicAnd(_to, ~(255u << _bit));
      atomicOr(_to, select(0u, 1u, v10) << _bit);
    }
  }
}
