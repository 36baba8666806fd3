//go:build unix

package dist

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A rank that is killed or stopped ends all others, whether it is rank 0, a neighbour or neither.
func TestSignals(t *testing.T) {
	for i, c := range []struct {
		signal syscall.Signal
		odd    int
		want   string
	}{
		{syscall.SIGKILL, 2, "ended without Close: it was killed"},
		{syscall.SIGKILL, 0, "ended without Close: it was killed"},
		{syscall.SIGSTOP, 2, "no sign of life for 3s"},
		{syscall.SIGSTOP, 0, "no sign of life for 3s"},
	} {
		if testing.Short() && i%2 == 0 {
			continue
		}
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

var (
	failures = flag.Int("failures", 1, "how often ranks with devices fail in each way")
	gpus     = flag.Int("gpus", 0, "the number of GPUs of NVIDIA on which they do, each with a rank; by default devices of the test")
)

// A rank that ends, is killed, is stopped or differs ends the others, also while devices compute collectives, which
// would wait for ever.
func TestFailuresOnDevice(t *testing.T) {
	device, n := "fake", 3
	if *gpus > 0 {
		device, n = "cuda", *gpus
	}
	for i, c := range []struct {
		how    string
		signal syscall.Signal
		want   string
	}{
		{"run", syscall.SIGKILL, "ended without Close: it was killed"},
		{"run", syscall.SIGSTOP, "no sign of life for 3s"},
		{"exit", 0, "ended without Close"},
		{"differ", 0, "graph differs: collective 21"},
		{"close", 0, "closed its group after 20 collectives"},
		{"memory", 0, "memory"},
	} {
		if testing.Short() && i%3 != 0 { // the end of a process, and graphs that differ
			continue
		}
		for i := range *failures {
			odd := i%2 + 1
			if n == 2 {
				odd = i % 2
			}
			t.Run(fmt.Sprint(c.how, c.signal, i), func(t *testing.T) {
				t.Parallel()
				ranks := startRanksOn(t, device, c.how, odd, n)
				want := []string{c.want, "in step"}
				if c.signal != 0 {
					if line := <-ranks[odd].ready; strings.TrimSpace(line) != "ready" {
						t.Fatalf("rank %d printed %q: %s", odd, line, ranks[odd].stderr.String())
					}
					time.Sleep(20 * time.Millisecond)
					want = append(want, fmt.Sprintf("rank %d on host %s, process %d failed", odd, hostName(), ranks[odd].cmd.Process.Pid))
					if err := ranks[odd].cmd.Process.Signal(c.signal); err != nil {
						t.Fatal(err)
					}
				}
				within := 10 * time.Second
				if c.signal == 0 {
					within = 40 * time.Second // with the start
				}
				start := time.Now()
				checkEnd(t, ranks, odd, within, want...)
				t.Logf("the others ended after %v", time.Since(start).Round(time.Millisecond))
				ranks[odd].cmd.Process.Kill()
				<-ranks[odd].status
			})
		}
	}
}
