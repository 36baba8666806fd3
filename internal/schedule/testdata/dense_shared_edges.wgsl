// contraction i0:2 batch i1:500 m i2:260 n i3:90 k
// a0 in float16 aligned
// a1 in float16 aligned
// a2 in float16 aligned
// a3 out float16[260000] aligned
// %0 float32{0 1 3} = Load a0[45000*i0 + 90*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 260*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[130000*i0 + 260*i1 + i2]

// Pass 0: groups [40 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []
