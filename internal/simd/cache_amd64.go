//go:build !noasm

package simd

// cpuid executes the instruction CPUID.
func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// processorCache returns the bytes of the second-level cache, or 0. Leaf 4 of CPUID, or
// AMD's leaf 0x8000001d, describes a cache in each subleaf.
func processorCache() int {
	for _, leaf := range []uint32{4, 0x8000001d} {
		if last, _, _, _ := cpuid(leaf&^0xffff, 0); last < leaf {
			continue
		}
		for i := range uint32(8) {
			a, b, c, _ := cpuid(leaf, i)
			if kind, level := a&31, a>>5&7; kind == 0 {
				break // none is left
			} else if level == 2 {
				ways, partitions, line, sets := b>>22+1, b>>12&0x3ff+1, b&0xfff+1, c+1
				return int(ways * partitions * line * sets)
			}
		}
	}
	return 0
}
