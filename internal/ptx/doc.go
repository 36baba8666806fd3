// Package ptx prints programs of package shader as PTX, the assembly language of NVIDIA's
// drivers. Read print.go first.
//
// The text asks for the oldest version and target that suffice, so that old drivers take it.
// All registers of 32 bits have one untyped class, so a Bitcast is no instruction. Functions
// are printed where they are called. Sums and products are rounded one by one (the .rn
// forms), as no compiler may contract them; so a Launder is no instruction either.
//
// Source: NVIDIA, Parallel Thread Execution ISA.
package ptx
