// Package launch has the command tensorken launch.
package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// A job is a program that runs as several ranks.
type job struct {
	ranks, restarts int
	grace           time.Duration // between the end of one rank, or a signal, and the kill of the others
	args            []string
}

// Command is tensorken launch.
func Command() *cobra.Command {
	j := job{}
	c := &cobra.Command{
		Use:   "launch -n RANKS PROGRAM [ARGUMENTS]",
		Short: "Run a program as several ranks on this machine, for package dist",
		Long: `Run a program as several ranks on this machine, for package dist.

Each rank is a process with torchrun's variables RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and
MASTER_PORT. Its lines are printed with its rank. When a rank fails the others are told to end, and
killed if they do not; with --restarts all start again, and a train.Loop with Resume goes on from its
last checkpoint. At Ctrl-C and SIGTERM all ranks get SIGTERM. The cores of the machine are divided among the
ranks, unless GOMAXPROCS is set.`,
		Example: "  tensorken launch -n 8 --restarts 3 ./program -epochs 10",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			j.args = args
			return j.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().SetInterspersed(false) // flags after the program are the program's
	c.Flags().IntVarP(&j.ranks, "ranks", "n", 1, "the number of ranks")
	c.Flags().IntVar(&j.restarts, "restarts", 0, "start all ranks again after a failure, so many times")
	c.Flags().DurationVar(&j.grace, "grace", 15*time.Second, "how long ranks may take to end before they are killed")
	return c
}

// maxRanks bounds the number of processes.
const maxRanks = 1024

// run runs the ranks, again after failures.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) error {
	if j.ranks < 1 || j.ranks > maxRanks || j.restarts < 0 || j.grace < 0 {
		return fmt.Errorf("launch: %d ranks, %d restarts and a grace of %v: want 1 to %d ranks, and the others of at least 0", j.ranks, j.restarts, j.grace, maxRanks)
	}
	for again := 0; ; again++ {
		err := j.once(ctx, stdout, stderr)
		if err == nil || ctx.Err() != nil || again == j.restarts {
			return err
		}
		fmt.Fprintf(stderr, "tensorken: %v: restart %d of %d\n", err, again+1, j.restarts)
	}
}

// An exit is the end of a rank.
type exit struct {
	rank int
	err  error
}

// once runs the ranks to their end.
func (j *job) once(ctx context.Context, stdout, stderr io.Writer) error {
	env, err := j.environment()
	if err != nil {
		return err
	}
	var printing sync.Mutex
	ranks, exits := make([]*exec.Cmd, j.ranks), make(chan exit, j.ranks)
	for i := range ranks {
		c := exec.Command(j.args[0], j.args[1:]...)
		c.Env = append(env[:len(env):len(env)], "RANK="+strconv.Itoa(i), "LOCAL_RANK="+strconv.Itoa(i))
		ownGroup(c)
		out, errOut := &lines{w: stdout, rank: i, mu: &printing}, &lines{w: stderr, rank: i, mu: &printing}
		c.Stdout, c.Stderr, c.WaitDelay = out, errOut, time.Second
		if err := c.Start(); err != nil {
			for _, r := range ranks[:i] {
				kill(r)
				<-exits
			}
			return fmt.Errorf("launch: %w", err)
		}
		ranks[i] = c
		go func() {
			err := c.Wait()
			out.end()
			errOut.end()
			exits <- exit{i, err}
		}()
	}
	return j.wait(ctx, ranks, exits)
}

// wait returns when all ranks have ended: the first failure, or nil.
func (j *job) wait(ctx context.Context, ranks []*exec.Cmd, exits <-chan exit) (failure error) {
	done, running := ctx.Done(), make(map[int]bool)
	for i := range ranks {
		running[i] = true
	}
	var late <-chan time.Time
	for len(running) > 0 {
		select {
		case <-done:
			done, late = nil, time.After(j.grace)
			for i := range running {
				ranks[i].Process.Signal(gentle) // one that has just ended needs none
			}
		case e := <-exits:
			delete(running, e.rank)
			if e.err == nil || failure != nil {
				continue
			}
			failure = fmt.Errorf("launch: rank %d: %w", e.rank, e.err)
			if late == nil && len(running) > 0 { // package dist tells the others why
				late = time.After(j.grace)
			}
		case <-late:
			for i := range running {
				kill(ranks[i])
			}
			late = nil
		}
	}
	if failure == nil {
		failure = ctx.Err()
	}
	return failure
}

// environment returns the variables that all ranks share.
func (j *job) environment() ([]string, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "WORLD_SIZE="+strconv.Itoa(j.ranks), "LOCAL_WORLD_SIZE="+strconv.Itoa(j.ranks), "MASTER_ADDR=127.0.0.1",
		"MASTER_PORT="+strconv.Itoa(port), "TENSORKEN_DIST_SECRET="+rand.Text())
	if os.Getenv("GOMAXPROCS") == "" {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/j.ranks)))
	}
	return env, nil
}

// freePort returns a port that is free now, below those that systems choose for connections.
func freePort() (port int, err error) {
	for range 100 {
		port = 15000 + mathrand.IntN(15000)
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("launch: no port is free: %w", err)
}

// maxLine bounds the bytes that wait for the end of their line.
const maxLine = 1 << 16

// A lines writes whole lines, each after its rank.
type lines struct {
	w    io.Writer
	rank int
	mu   *sync.Mutex // of w
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		n, line, err := bufio.ScanLines(l.rest, false)
		if n == 0 || err != nil {
			break
		}
		if err := l.print(line); err != nil {
			return 0, err
		}
		l.rest = l.rest[n:]
	}
	if len(l.rest) > maxLine {
		l.end()
	}
	return len(b), nil
}

// end writes a last line without a newline.
func (l *lines) end() {
	if len(l.rest) > 0 {
		l.print(l.rest)
		l.rest = nil
	}
}

func (l *lines) print(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.w, "[%d] %s\n", l.rank, line)
	return err
}

// kill ends a process.
func kill(c *exec.Cmd) {
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		fmt.Fprintln(os.Stderr, "tensorken: launch:", err)
	}
}
