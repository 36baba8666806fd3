// contraction i0:1 batch i1:2048 m i2:2048 n i3:2048 k
// a0 in float64 aligned
// a1 in float64 aligned
// a2 in float64 aligned
// a3 out float64[4194304] aligned
// %0 float64{0 1 3} = Load a0[4194304*i0 + 2048*i1 + i3]
// %1 float64{2 3} = Load a1[2048*i2 + i3]
// %2 float64{0 1 2 3} = Mul %0 %1
// %3 float64{0 1 2} = Sum %2 over {3}
// %4 float64{2} = Load a2[i2]
// %5 float64{0 1 2} = Add %3 %4
// %6 float64{} = Const 0
// %7 float64{0 1 2} = Max %5 %6
// %8 float64{0 1 2} = Store %7 a3[4194304*i0 + 2048*i1 + i2]

// Pass 0: groups [256 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:false} {Arg:2 Scratch:0 Write:false} {Arg:3 Scratch:0 Write:true}], params [{Arg:0 Offset:true} {Arg:1 Offset:true} {Arg:2 Offset:true}], scratch []
