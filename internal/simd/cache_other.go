//go:build !amd64 || noasm

package simd

// processorCache returns 0: only the system tells the size of the second-level cache.
func processorCache() int { return 0 }
