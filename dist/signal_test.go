//go:build unix

package dist

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A rank that is killed or stopped ends all others, whether it is rank 0, a neighbour or neither.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		odd    int
		want   string
	}{
		{syscall.SIGKILL, 2, "ended without Close: it was killed"},
		{syscall.SIGKILL, 0, "ended without Close: it was killed"},
		{syscall.SIGSTOP, 2, "no sign of life for 3s"},
		{syscall.SIGSTOP, 0, "no sign of life for 3s"},
	} {
		t.Run(fmt.Sprint(c.signal, c.odd), func(t *testing.T) {
			t.Parallel()
			ranks := startRanks(t, "run", -1, 4)
			if line := <-ranks[c.odd].ready; strings.TrimSpace(line) != "ready" {
				t.Fatalf("rank %d printed %q", c.odd, line)
			}
			if err := ranks[c.odd].cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			checkEnd(t, ranks, c.odd, 10*time.Second, fmt.Sprintf("rank %d on host %s, process %d failed", c.odd, hostName(), ranks[c.odd].cmd.Process.Pid), c.want, "in step")
		})
	}
}
