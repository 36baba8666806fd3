// reduce i0:3000 reduced
// a0 in float64 aligned
// a1 out float64[1] aligned
// a2 out int32[1] aligned
// %0 float64{0} = Load a0[i0]
// %1 float64{} = Sum %0 over {0}
// %2 float64{} = Store %1 a1[0]
// %3 int32{} = ArgMax %0 over {0}
// %4 int32{} = Store %3 a2[0]

// Pass 0: groups [1 1 1], bindings [{Arg:0 Scratch:0 Write:false} {Arg:1 Scratch:0 Write:true} {Arg:2 Scratch:0 Write:true}], params [{Arg:0 Offset:true}], scratch []
