package neural

import (
	"strings"
	"testing"
)

// The draws of a twister are numpy.random.RandomState(7)'s, also after all of its words were replaced.
func TestTwister(t *testing.T) {
	const want = "1001100110010110100101100010111000000100" // the draws from 640 on that are at least a half
	draws := newTwister(7)
	var got strings.Builder
	for i := range 680 {
		bit := byte('0')
		if draws.float64() >= 0.5 {
			bit = '1'
		}
		if i >= 640 {
			got.WriteByte(bit)
		}
	}
	if got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}
