package cpu

import (
	"fmt"
	"testing"
)

// BenchmarkConvolution has the convolutions of ResNet-50 by windows of 3 by 3.
func BenchmarkConvolution(b *testing.B) {
	for _, c := range []convolution{
		{"", 1, 56, 56, 64, 64, 1, 1, 1, false, false, false, true},
		{"", 1, 28, 28, 128, 128, 1, 1, 1, false, false, false, true},
		{"", 1, 14, 14, 256, 256, 1, 1, 1, false, false, false, true},
		{"", 1, 7, 7, 512, 512, 1, 1, 1, false, false, false, true},
		{"", 8, 7, 7, 512, 512, 1, 1, 1, false, false, false, true},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d·%d→%d", c.n, c.height, c.width, c.c, c.output), func(b *testing.B) {
			image, weights := c.n*c.height*c.width, 9*c.c*c.output
			bench(b, c.kernel(), 4*(image*(c.c+c.output)+weights), 2*image*weights, image*c.c, weights, image*c.output)
		})
	}
}
