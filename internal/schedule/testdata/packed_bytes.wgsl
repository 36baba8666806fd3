// reduce i0:1 i1:1024 reduced
// a0 in float32 aligned
// a1 in Q5_0 aligned
// a2 out float32[1] aligned
// %0 float32{1} = Load a0[i1]
// %1 float32{0 1} = Load a1[1024*i0 + i1]
// %2 float32{0 1} = Mul %0 %1
// %3 float32{0} = Sum %2 over {1}
// %4 float32{0} = Store %3 a2[i0]

// Pass 0: groups [1 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:true}], params [{Arg:1 Offset:true} {Arg:0 Offset:true}], scratch []
