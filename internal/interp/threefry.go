package interp

import "math/bits"

// threefry returns Threefry-2x32 with 20 rounds: the counter (c0, c1) encrypted with the
// key (k0, k1). See Salmon, Moraes, Dror and Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3", SC 2011.
func threefry(k0, k1, c0, c1 uint32) (uint32, uint32) {
	key := [3]uint32{k0, k1, 0x1bd11bda ^ k0 ^ k1}
	rotations := [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}
	c0 += key[0]
	c1 += key[1]
	for i := range 5 {
		for _, r := range rotations[i%2] {
			c0 += c1
			c1 = bits.RotateLeft32(c1, r) ^ c0
		}
		c0 += key[(i+1)%3]
		c1 += key[(i+2)%3] + uint32(i+1)
	}
	return c0, c1
}
