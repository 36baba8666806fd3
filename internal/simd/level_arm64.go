//go:build !noasm

package simd

// levels are the sets of instructions. Every arm64 processor has NEON.
var levels = []level{{"neon", true, routinesNEON.install}}
