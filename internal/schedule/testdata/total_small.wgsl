// reduce i0:100 reduced
// a0 in float32 aligned
// a1 out float32[1] aligned
// a2 out int32[1] aligned
// %0 float32{0} = Load a0[i0]
// %1 float32{} = Sum %0 over {0}
// %2 float32{} = Store %1 a1[0]
// %3 int32{} = ArgMax %0 over {0}
// %4 int32{} = Store %3 a2[0]

// Pass 0: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []

struct _params {
  o0: i32,
}
@group(0) @binding(3) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
@group(0) @binding(2) var<storage, read_write> a2: array<i32>;
var<workgroup> w0: array<f32, 256>;
var<workgroup> w1: array<vec2<u32>, 256>;

fn first_max_u32(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn key_f32(x: f32) -> u32 {
  let b = select(bitcast<u32>(x), 0u, x == 0.0f);
  let k = select(b | 0x80000000u, ~b, b >= 0x80000000u);
  return select(k, 0xffffffffu, is_nan(x));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let t = _thread / 1u % 16u;
  let each = _group * 16u + _thread / 16u;
  let row = min(each, 0u);
  let i0_0 = i32(min(t * 4u, 100u - 4u));
  let i0_1 = i32(min(t * 4u + 64u, 100u - 4u));
  let _four_v0_0 = a0[u32(i0_0 + _p.o0) >> 2u];
  let v0_0 = _four_v0_0.x;
  let v0_1 = _four_v0_0.y;
  let v0_2 = _four_v0_0.z;
  let v0_3 = _four_v0_0.w;
  let _four_v0_4 = a0[u32(i0_1 + _p.o0) >> 2u];
  let v0_4 = _four_v0_4.x;
  let v0_5 = _four_v0_4.y;
  let v0_6 = _four_v0_4.z;
  let v0_7 = _four_v0_4.w;
  var r1 = 0.0f;
  var r3 = vec2<u32>(0u, 0xffffffffu);
  r1 = r1 + (select(0.0f, v0_0, t * 4u < 100u) + select(0.0f, v0_1, t * 4u < 100u) + (select(0.0f, v0_2, t * 4u < 100u) + select(0.0f, v0_3, t * 4u < 100u)) + (select(0.0f, v0_4, t * 4u + 64u < 100u) + select(0.0f, v0_5, t * 4u + 64u < 100u) + (select(0.0f, v0_6, t * 4u + 64u < 100u) + select(0.0f, v0_7, t * 4u + 64u < 100u))));
  r3 = first_max_u32(r3, first_max_u32(first_max_u32(first_max_u32(select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_0), u32(i0_0)), t * 4u < 100u), select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_1), u32(i0_0 + 1)), t * 4u < 100u)), first_max_u32(select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_2), u32(i0_0 + 2)), t * 4u < 100u), select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_3), u32(i0_0 + 3)), t * 4u < 100u))), first_max_u32(first_max_u32(select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_4), u32(i0_1)), t * 4u + 64u < 100u), select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_5), u32(i0_1 + 1)), t * 4u + 64u < 100u)), first_max_u32(select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_6), u32(i0_1 + 2)), t * 4u + 64u < 100u), select(vec2<u32>(0u, 0xffffffffu), vec2<u32>(key_f32(v0_7), u32(i0_1 + 3)), t * 4u + 64u < 100u)))));
  w0[_thread] = r1;
  w1[_thread] = r3;
  workgroupBarrier();
  if (t < 8u) {
    w0[_thread] = w0[_thread] + w0[_thread + 8u];
    w1[_thread] = first_max_u32(w1[_thread], w1[_thread + 8u]);
  }
  workgroupBarrier();
  if (t < 4u) {
    w0[_thread] = w0[_thread] + w0[_thread + 4u];
    w1[_thread] = first_max_u32(w1[_thread], w1[_thread + 4u]);
  }
  workgroupBarrier();
  if (t < 2u) {
    w0[_thread] = w0[_thread] + w0[_thread + 2u];
    w1[_thread] = first_max_u32(w1[_thread], w1[_thread + 2u]);
  }
  workgroupBarrier();
  if (t < 1u) {
    w0[_thread] = w0[_thread] + w0[_thread + 1u];
    w1[_thread] = first_max_u32(w1[_thread], w1[_thread + 1u]);
  }
  workgroupBarrier();
  r1 = w0[_thread - t * 1u];
  r3 = w1[_thread - t * 1u];
  let v1 = r1;
  let v3 = i32(select(r3.y, 0u, r3.y == 0xffffffffu));
  if (t == 0u && each < 1u) {
    a1[0] = v1;
  }
  if (t == 0u && each < 1u) {
    a2[0] = v3;
  }
}
