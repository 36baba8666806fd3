// contraction i0:64 m i1:48 n i2:128 k
// a0 in int8 aligned
// a1 in int8 aligned
// a2 in int32 aligned
// a3 out int32[3072] aligned
// %0 int8{0 2} = Load a0[128*i0 + i2]
// %1 int8{1 2} = Load a1[128*i1 + i2]
// %2 int32{0 2} = Cast %0
// %3 int32{1 2} = Cast %1
// %4 int32{0 1 2} = Mul %2 %3
// %5 int32{0 1} = Sum %4 over {2}
// %6 int32{1} = Load a2[i1]
// %7 int32{0 1} = Add %5 %6
// %8 int32{0 1} = Store %7 a3[48*i0 + i1]

// Pass 0: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []
