// contraction i0:1 batch i1:512 m i2:512 n i3:128 k
// a0 in float32 aligned
// a1 in float32 aligned
// a2 in float32 aligned
// a3 out float32[262144] aligned
// %0 float32{0 1 3} = Load a0[65536*i0 + 128*i1 + i3]
// %1 float32{2 3} = Load a1[i2 + 512*i3]
// %2 float32{0 1 2 3} = Mul %0 %1
// %3 float32{0 1 2} = Sum %2 over {3}
// %4 float32{2} = Load a2[i2]
// %5 float32{0 1 2} = Add %3 %4
// %6 float32{} = Const 0
// %7 float32{0 1 2} = Max %5 %6
// %8 float32{0 1 2} = Store %7 a3[262144*i0 + 512*i1 + i2]

// Pass 0: groups [64 1 1], bindings [{Arg:1 Scratch:0 Write:false} {Arg:0 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:1 Offset:true} {Arg:0 Offset:true} {Arg:2 Offset:true}], scratch []
