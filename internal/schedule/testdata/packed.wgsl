// reduce i0:1 i1:256 reduced
// a0 in float32 aligned
// a1 in Q4_K aligned
// a2 out float32[1] aligned
// %0 float32{1} = Load a0[i1]
// %1 float32{0 1} = Load a1[256*i0 + i1]
// %2 float32{0 1} = Mul %0 %1
// %3 float32{0} = Sum %2 over {1}
// %4 float32{0} = Store %3 a2[i0]

// Pass 0: groups [1 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true}], params [{Arg:1 Offset:true} {Arg:0 Offset:true}], scratch []

enable subgroups;

struct _params {
  o1: i32,
  o0: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a1: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> a2: array<f32>;
var<workgroup> w0: array<f32, 16>;

fn _launder(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | _zero);
}

var<private> _zero: u32;

@compute @workgroup_size(512)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  _zero = _id.z;
  let t = _thread % 128u;
  var c0_0_0 = 0.0f;
  let own = min(_group * 4u + _thread / 128u, 0u);
  let first = own * 1u;
  let i0_n0 = i32(0u);
  let b0_0 = (i0_n0 + _p.o1) >> 8u;
  {
    if (t < 8u) {
      let vector0 = t * 1u;
      let block0 = vector0 >> 3u;
      let element0 = ((vector0 & 7u) >> 1u) * 64u + (vector0 & 7u & 1u) * 16u;
      let depth = block0 * 256u + element0;
      let runQ4_K0 = element0 >> 5u;
      let runQ4_K1 = (element0 >> 5u) + 1u;
      let q0_0_0b = b0_0 + i32(block0);
      let _four_q0_0_0fw0 = a1[u32(q0_0_0b * 36) >> 2u];
      let q0_0_0fw0 = _four_q0_0_0fw0.x;
      let q0_0_0fw1 = _four_q0_0_0fw0.y;
      let q0_0_0fw2 = _four_q0_0_0fw0.z;
      let q0_0_0fw3 = _four_q0_0_0fw0.w;
      let _four_q0_0_0lw0 = a1[u32(q0_0_0b * 36 + i32((vector0 & 7u) * 4u) + 4) >> 2u];
      let q0_0_0lw0 = _four_q0_0_0lw0.x;
      let q0_0_0lw1 = _four_q0_0_0lw0.y;
      let q0_0_0lw2 = _four_q0_0_0lw0.z;
      let q0_0_0lw3 = _four_q0_0_0lw0.w;
      let place0 = (runQ4_K0 & 3u) * 8u + (runQ4_K0 >> 2u) * 64u;
      let q0_0_0s0t0b = place0 + 32u;
      let q0_0_0s0t0 = select(q0_0_0fw1, q0_0_0fw3, q0_0_0s0t0b >> 5u == 3u);
      let place1 = (runQ4_K0 & 3u) * 8u + (runQ4_K0 >> 2u) * 2u;
      let q0_0_0s0t1b = place1 + 36u;
      let q0_0_0s0t1 = q0_0_0fw1;
      let q0_0_0s00 = unpack2x16float(q0_0_0fw0 >> 0u).x * f32(bitcast<i32>(((q0_0_0s0t0 >> (q0_0_0s0t0b & 31u)) & 15u) | (((q0_0_0s0t1 >> (q0_0_0s0t1b & 31u)) & 3u) << 4u)));
      let place2 = (runQ4_K0 & 3u) * 8u + (runQ4_K0 >> 2u) * 36u;
      let q0_0_0o0t0b = place2 + 64u;
      let q0_0_0o0t0 = select(q0_0_0fw2, q0_0_0fw3, q0_0_0o0t0b >> 5u == 3u);
      let q0_0_0o0t1b = place1 + 68u;
      let q0_0_0o0t1 = q0_0_0fw2;
      let q0_0_0o00 = -(unpack2x16float(q0_0_0fw0 >> 16u).x * f32(bitcast<i32>(((q0_0_0o0t0 >> (q0_0_0o0t0b & 31u)) & 15u) | (((q0_0_0o0t1 >> (q0_0_0o0t1b & 31u)) & 3u) << 4u))));
      let place3 = (runQ4_K1 & 3u) * 8u + (runQ4_K1 >> 2u) * 64u;
      let q0_0_0s1t0b = place3 + 32u;
      let q0_0_0s1t0 = select(q0_0_0fw1, q0_0_0fw3, q0_0_0s1t0b >> 5u == 3u);
      let place4 = (runQ4_K1 & 3u) * 8u + (runQ4_K1 >> 2u) * 2u;
      let q0_0_0s1t1b = place4 + 36u;
      let q0_0_0s1t1 = q0_0_0fw1;
      let q0_0_0s10 = unpack2x16float(q0_0_0fw0 >> 0u).x * f32(bitcast<i32>(((q0_0_0s1t0 >> (q0_0_0s1t0b & 31u)) & 15u) | (((q0_0_0s1t1 >> (q0_0_0s1t1b & 31u)) & 3u) << 4u)));
      let place5 = (runQ4_K1 & 3u) * 8u + (runQ4_K1 >> 2u) * 36u;
      let q0_0_0o1t0b = place5 + 64u;
      let q0_0_0o1t0 = select(q0_0_0fw2, q0_0_0fw3, q0_0_0o1t0b >> 5u == 3u);
      let q0_0_0o1t1b = place4 + 68u;
      let q0_0_0o1t1 = q0_0_0fw2;
      let q0_0_0o10 = -(unpack2x16float(q0_0_0fw0 >> 16u).x * f32(bitcast<i32>(((q0_0_0o1t0 >> (q0_0_0o1t0b & 31u)) & 15u) | (((q0_0_0o1t1 >> (q0_0_0o1t1b & 31u)) & 3u) << 4u))));
      {
        let i0_m0 = i32(depth);
        let _four_v0_m0_0 = a0[u32(i0_m0 + _p.o0) >> 2u];
        let v0_m0_0 = _four_v0_m0_0.x;
        let v0_m0_1 = _four_v0_m0_0.y;
        let v0_m0_2 = _four_v0_m0_0.z;
        let v0_m0_3 = _four_v0_m0_0.w;
        let _four_v0_m0_4 = a0[u32(i0_m0 + _p.o0 + 4) >> 2u];
        let v0_m0_4 = _four_v0_m0_4.x;
        let v0_m0_5 = _four_v0_m0_4.y;
        let v0_m0_6 = _four_v0_m0_4.z;
        let v0_m0_7 = _four_v0_m0_4.w;
        let _four_v0_m0_8 = a0[u32(i0_m0 + _p.o0 + 8) >> 2u];
        let v0_m0_8 = _four_v0_m0_8.x;
        let v0_m0_9 = _four_v0_m0_8.y;
        let v0_m0_10 = _four_v0_m0_8.z;
        let v0_m0_11 = _four_v0_m0_8.w;
        let _four_v0_m0_12 = a0[u32(i0_m0 + _p.o0 + 12) >> 2u];
        let v0_m0_12 = _four_v0_m0_12.x;
        let v0_m0_13 = _four_v0_m0_12.y;
        let v0_m0_14 = _four_v0_m0_12.z;
        let v0_m0_15 = _four_v0_m0_12.w;
        let total0_0 = v0_m0_0 + v0_m0_1 + (v0_m0_2 + v0_m0_3) + (v0_m0_4 + v0_m0_5 + (v0_m0_6 + v0_m0_7)) + (v0_m0_8 + v0_m0_9 + (v0_m0_10 + v0_m0_11) + (v0_m0_12 + v0_m0_13 + (v0_m0_14 + v0_m0_15)));
        {
          let k0_0w0 = q0_0_0lw0;
          let k0_0u0 = k0_0w0 >> 16u;
          let k0_00_0 = _launder(bitcast<f32>((k0_0w0 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_1 = _launder(bitcast<f32>((k0_0w0 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_2 = _launder(bitcast<f32>((k0_0u0 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_3 = _launder(bitcast<f32>((k0_0u0 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w1 = q0_0_0lw1;
          let k0_0u1 = k0_0w1 >> 16u;
          let k0_01_0 = _launder(bitcast<f32>((k0_0w1 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_1 = _launder(bitcast<f32>((k0_0w1 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_2 = _launder(bitcast<f32>((k0_0u1 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_3 = _launder(bitcast<f32>((k0_0u1 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w2 = q0_0_0lw2;
          let k0_0u2 = k0_0w2 >> 16u;
          let k0_02_0 = _launder(bitcast<f32>((k0_0w2 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_1 = _launder(bitcast<f32>((k0_0w2 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_2 = _launder(bitcast<f32>((k0_0u2 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_3 = _launder(bitcast<f32>((k0_0u2 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w3 = q0_0_0lw3;
          let k0_0u3 = k0_0w3 >> 16u;
          let k0_03_0 = _launder(bitcast<f32>((k0_0w3 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_1 = _launder(bitcast<f32>((k0_0w3 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_2 = _launder(bitcast<f32>((k0_0u3 & 15u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_3 = _launder(bitcast<f32>((k0_0u3 & 3840u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0p0_0 = v0_m0_0 * k0_00_0;
          let k0_0p0_1 = v0_m0_1 * k0_00_1;
          let k0_0p0_2 = fma(v0_m0_2, k0_00_2, k0_0p0_0);
          let k0_0p0_3 = fma(v0_m0_3, k0_00_3, k0_0p0_1);
          let k0_0p0_4 = fma(v0_m0_4, k0_01_0, k0_0p0_2);
          let k0_0p0_5 = fma(v0_m0_5, k0_01_1, k0_0p0_3);
          let k0_0p0_6 = fma(v0_m0_6, k0_01_2, k0_0p0_4);
          let k0_0p0_7 = fma(v0_m0_7, k0_01_3, k0_0p0_5);
          let k0_0p0_8 = fma(v0_m0_8, k0_02_0, k0_0p0_6);
          let k0_0p0_9 = fma(v0_m0_9, k0_02_1, k0_0p0_7);
          let k0_0p0_10 = fma(v0_m0_10, k0_02_2, k0_0p0_8);
          let k0_0p0_11 = fma(v0_m0_11, k0_02_3, k0_0p0_9);
          let k0_0p0_12 = fma(v0_m0_12, k0_03_0, k0_0p0_10);
          let k0_0p0_13 = fma(v0_m0_13, k0_03_1, k0_0p0_11);
          let k0_0p0_14 = fma(v0_m0_14, k0_03_2, k0_0p0_12);
          let k0_0p0_15 = fma(v0_m0_15, k0_03_3, k0_0p0_13);
          let k0_0v0 = fma(k0_0p0_15, 0.00390625f, k0_0p0_14) * q0_0_0s00;
          c0_0_0 = k0_0v0 + c0_0_0;
          c0_0_0 = fma(total0_0, q0_0_0o00, c0_0_0);
        }
      }
      {
        let i0_m0 = i32(depth + 32u);
        let _four_v0_m0_0 = a0[u32(i0_m0 + _p.o0) >> 2u];
        let v0_m0_0 = _four_v0_m0_0.x;
        let v0_m0_1 = _four_v0_m0_0.y;
        let v0_m0_2 = _four_v0_m0_0.z;
        let v0_m0_3 = _four_v0_m0_0.w;
        let _four_v0_m0_4 = a0[u32(i0_m0 + _p.o0 + 4) >> 2u];
        let v0_m0_4 = _four_v0_m0_4.x;
        let v0_m0_5 = _four_v0_m0_4.y;
        let v0_m0_6 = _four_v0_m0_4.z;
        let v0_m0_7 = _four_v0_m0_4.w;
        let _four_v0_m0_8 = a0[u32(i0_m0 + _p.o0 + 8) >> 2u];
        let v0_m0_8 = _four_v0_m0_8.x;
        let v0_m0_9 = _four_v0_m0_8.y;
        let v0_m0_10 = _four_v0_m0_8.z;
        let v0_m0_11 = _four_v0_m0_8.w;
        let _four_v0_m0_12 = a0[u32(i0_m0 + _p.o0 + 12) >> 2u];
        let v0_m0_12 = _four_v0_m0_12.x;
        let v0_m0_13 = _four_v0_m0_12.y;
        let v0_m0_14 = _four_v0_m0_12.z;
        let v0_m0_15 = _four_v0_m0_12.w;
        let total0_0 = v0_m0_0 + v0_m0_1 + (v0_m0_2 + v0_m0_3) + (v0_m0_4 + v0_m0_5 + (v0_m0_6 + v0_m0_7)) + (v0_m0_8 + v0_m0_9 + (v0_m0_10 + v0_m0_11) + (v0_m0_12 + v0_m0_13 + (v0_m0_14 + v0_m0_15)));
        {
          let k0_0w0 = q0_0_0lw0;
          let k0_0u0 = k0_0w0 >> 16u;
          let k0_00_0 = _launder(bitcast<f32>((k0_0w0 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_1 = _launder(bitcast<f32>((k0_0w0 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_2 = _launder(bitcast<f32>((k0_0u0 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_00_3 = _launder(bitcast<f32>((k0_0u0 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w1 = q0_0_0lw1;
          let k0_0u1 = k0_0w1 >> 16u;
          let k0_01_0 = _launder(bitcast<f32>((k0_0w1 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_1 = _launder(bitcast<f32>((k0_0w1 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_2 = _launder(bitcast<f32>((k0_0u1 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_01_3 = _launder(bitcast<f32>((k0_0u1 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w2 = q0_0_0lw2;
          let k0_0u2 = k0_0w2 >> 16u;
          let k0_02_0 = _launder(bitcast<f32>((k0_0w2 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_1 = _launder(bitcast<f32>((k0_0w2 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_2 = _launder(bitcast<f32>((k0_0u2 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_02_3 = _launder(bitcast<f32>((k0_0u2 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0w3 = q0_0_0lw3;
          let k0_0u3 = k0_0w3 >> 16u;
          let k0_03_0 = _launder(bitcast<f32>((k0_0w3 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_1 = _launder(bitcast<f32>((k0_0w3 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_2 = _launder(bitcast<f32>((k0_0u3 & 240u) | 0x4b000000u) - 8.388608e+06f);
          let k0_03_3 = _launder(bitcast<f32>((k0_0u3 & 61440u) | 0x4b000000u) - 8.388608e+06f);
          let k0_0p0_0 = v0_m0_0 * k0_00_0;
          let k0_0p0_1 = v0_m0_1 * k0_00_1;
          let k0_0p0_2 = fma(v0_m0_2, k0_00_2, k0_0p0_0);
          let k0_0p0_3 = fma(v0_m0_3, k0_00_3, k0_0p0_1);
          let k0_0p0_4 = fma(v0_m0_4, k0_01_0, k0_0p0_2);
          let k0_0p0_5 = fma(v0_m0_5, k0_01_1, k0_0p0_3);
          let k0_0p0_6 = fma(v0_m0_6, k0_01_2, k0_0p0_4);
          let k0_0p0_7 = fma(v0_m0_7, k0_01_3, k0_0p0_5);
          let k0_0p0_8 = fma(v0_m0_8, k0_02_0, k0_0p0_6);
          let k0_0p0_9 = fma(v0_m0_9, k0_02_1, k0_0p0_7);
          let k0_0p0_10 = fma(v0_m0_10, k0_02_2, k0_0p0_8);
          let k0_0p0_11 = fma(v0_m0_11, k0_02_3, k0_0p0_9);
          let k0_0p0_12 = fma(v0_m0_12, k0_03_0, k0_0p0_10);
          let k0_0p0_13 = fma(v0_m0_13, k0_03_1, k0_0p0_11);
          let k0_0p0_14 = fma(v0_m0_14, k0_03_2, k0_0p0_12);
          let k0_0p0_15 = fma(v0_m0_15, k0_03_3, k0_0p0_13);
          let k0_0v0 = fma(k0_0p0_15, 0.00390625f, k0_0p0_14) * (q0_0_0s10 * 0.0625f);
          c0_0_0 = k0_0v0 + c0_0_0;
          c0_0_0 = fma(total0_0, q0_0_0o10, c0_0_0);
        }
      }
    }
  }
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 1u);
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 2u);
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 4u);
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 8u);
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 16u);
  if (_thread % 32u == 0u) {
    w0[_thread / 32u] = c0_0_0;
  }
  workgroupBarrier();
  c0_0_0 = w0[_thread / 128u * 4u + _thread % 4u];
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 1u);
  c0_0_0 = c0_0_0 + subgroupShuffleXor(c0_0_0, 2u);
  if (t == 0u) {
    a2[0] = c0_0_0;
  }
}
