package dist

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// A countingLink counts the bytes of a rank, in a group of as many ranks as a test says.
type countingLink struct{ sent, received, steps int }

func (l *countingLink) exchange(out, in []byte) error {
	l.sent, l.received, l.steps = l.sent+len(out), l.received+len(in), l.steps+1
	return nil
}

func (l *countingLink) close() {}

// The cost of a rank is the ring's: 2·(n-1) steps, and less than twice the data for any number of ranks.
func TestCost(t *testing.T) {
	const elements = 1 << 20
	for _, n := range []int{2, 8, 64, 1024} {
		for _, rank := range []int{0, 1, n - 1} {
			l := &countingLink{}
			r := &ring{link: l, rank: rank, size: n}
			data := make([]byte, 4*elements)
			steps := 0
			from := 0
			for _, to := range pieces(len(data)) {
				if err := r.allReduce(data[from:to], combination{ir.Add, ir.Float32}); err != nil {
					t.Fatal(err)
				}
				steps += 2 * (n - 1)
				from = to
			}
			want := 2 * (n - 1) * len(data) / n
			if l.steps != steps || l.sent != want || l.received != want {
				t.Errorf("rank %d of %d sent %d bytes and received %d in %d steps, want %d in %d", rank, n, l.sent, l.received, l.steps, want, steps)
			}
			l = &countingLink{}
			r.link = l
			if err := r.broadcast(data, 1); err != nil {
				t.Fatal(err)
			}
			if l.sent > len(data) || l.received > len(data) || l.sent+l.received == 0 {
				t.Errorf("broadcast: rank %d of %d sent %d bytes and received %d", rank, n, l.sent, l.received)
			}
		}
	}
	for total, want := range map[int]int{0: 0, 4: 1, bucketSize: 1, bucketSize + 4: 2, 1 << 30: 41} {
		if got := len(pieces(total)); got != want {
			t.Errorf("%d bytes are in %d pieces, want %d", total, got, want)
		}
	}
}
