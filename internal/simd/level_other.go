//go:build !(amd64 || arm64) || noasm

package simd

// levels are the sets of instructions that assembly is written for.
var levels []level
