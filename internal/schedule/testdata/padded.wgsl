// pointwise i0:9
// a0 in int32 aligned
// a1 out int32[9] aligned
// %0 int32{0} = Load a0[0; 0 <= (-i0 + 5)/2 <3 *1; else 0]
// %1 bool{0} = InBounds [0 <= (-i0 + 5)/2 <3 *1]
// %2 int32{} = Const -1
// %3 int32{0} = Where %1 %0 %2
// %4 int32{0} = Store %3 a1[i0]

// Pass 0: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []

struct _params {
  o0: i32,
}
@group(0) @binding(2) var<uniform> _p: _params;
@group(0) @binding(0) var<storage, read> a0: array<i32>;
@group(0) @binding(1) var<storage, read_write> a1: array<i32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) _id: vec3<u32>, @builtin(local_invocation_index) _thread: u32) {
  let _group = _id.x;
  let item = _group * 256u + _thread;
  let v2 = -1;
  if (item < 9u) {
    let i0 = i32(item);
    let v1 = u32(-i0 + 5) < 6u && (-i0 + 5) % 2 == 0;
    var v0 = 0;
    if (u32(-i0 + 5) < 6u && (-i0 + 5) % 2 == 0) {
      v0 = a0[_p.o0 + 1 * ((-i0 + 5) / 2)];
    }
    let v3 = select(v2, v0, v1);
    a1[i0] = v3;
  }
}
