package data

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Indices of rows are of int32, unless there are more rows than it counts.
func TestIndices(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{
		{math.MaxInt32, "[2147483646 0] (int32 [2]"},
		{math.MaxInt32 + 1, "[2147483647 0] (int64 [2]"},
		{1<<32 + 1, "[4294967296 0] (int64 [2]"},
	} {
		got := fmt.Sprintf("%+v", indices([]int{c.n - 1, 0}, c.n))
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("indices of rows %d and 0 of %d are %s, want %s…", c.n-1, c.n, got, c.want)
		}
	}
}
