package dist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// TestMain runs the rank of a process that a test has started.
func TestMain(m *testing.M) {
	if how := os.Getenv("TENSORKEN_TEST_RANK"); how != "" {
		if err := rankMain(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rankMain makes collectives, of a device if the environment names one, until they fail. Rank "odd" of the environment
// differs as how says.
func rankMain(how string) error {
	g, err := Init(&Options{Deadline: 20 * time.Second, Silence: 3 * time.Second})
	if err != nil {
		return err
	}
	defer g.Close()
	odd := os.Getenv("TENSORKEN_TEST_ODD") == strconv.Itoa(g.Rank())
	x := tensor.New([]float32{1, 2, 3})
	mean := func(x tensor.Tensor) tensor.Tensor { return g.Mean(x)[0] }
	if name := os.Getenv("TENSORKEN_TEST_ON"); name != "" {
		d, err := deviceOf(name, g)
		if err != nil {
			return err
		}
		n := 1 << 20
		if name == "fake" { // its elements go through sockets
			n = 1 << 14
		}
		x = tensor.FullOf(tensor.Float32, 1, n).To(d).Keep()
		mean = grad.Jit(mean)
	}
	for i := range 100_000 {
		if odd && i == 20 {
			switch how {
			case "exit":
				os.Exit(3)
			case "differ":
				x = x.Sum()
			case "close":
				return nil
			case "memory": // 4 TiB
				return g.Abort(tensor.Eval(tensor.Ones(1 << 40).Mul(x.At(0)).CumSum(0)))
			}
		}
		var data []float32
		if err := errors.Join(tensor.Try(func() { data, err = tensor.Data[float32](mean(x)) }), err); err != nil {
			return err
		}
		if i < 20 && data[0] != 1 {
			return fmt.Errorf("the mean is %v, want 1", data[0])
		}
		if i == 10 {
			fmt.Println("ready")
		}
		if i > 10 && how == "once" {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("nothing happened")
}

// deviceOf returns a rank's device of a name.
func deviceOf(name string, g *Group) (*tensor.Device, error) {
	if name == "fake" {
		return tensor.NewDevice(NewFakeDevice(strconv.Itoa(g.Rank()))), nil
	}
	return cuda.Open(&cuda.Options{Index: g.LocalRank()})
}

// A testRank is a process of a test.
type testRank struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	ready  chan string // the first line
	stderr bytes.Buffer
	status chan int
}

// startRanks starts n ranks, or all but one.
func startRanks(t *testing.T, how string, odd, n int, but ...int) []*testRank {
	t.Helper()
	return startRanksOn(t, "", how, odd, n, but...)
}

// startRanksOn starts ranks that compute on a device.
func startRanksOn(t *testing.T, device, how string, odd, n int, but ...int) []*testRank {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	port := freePort(t)
	ranks := make([]*testRank, n)
	for i := range ranks {
		if len(but) > 0 && but[0] == i {
			continue
		}
		r := &testRank{cmd: exec.Command(os.Args[0]), status: make(chan int, 1)}
		r.cmd.Env = append(os.Environ(), "TENSORKEN_TEST_RANK="+how, "TENSORKEN_TEST_ODD="+strconv.Itoa(odd), "TENSORKEN_TEST_ON="+device,
			"GOMAXPROCS="+strconv.Itoa(1+min(len(device), 1)), "RANK="+strconv.Itoa(i), "WORLD_SIZE="+strconv.Itoa(n), "LOCAL_RANK="+strconv.Itoa(i), "MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port)
		r.cmd.Stderr = &r.stderr
		pipe, err := r.cmd.StdoutPipe()
		if err == nil {
			err = r.cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		r.out, r.ready = bufio.NewReader(pipe), make(chan string, 1)
		go func() {
			line, _ := r.out.ReadString('\n')
			r.ready <- line
			io.Copy(io.Discard, r.out)
			r.cmd.Wait()
			r.status <- r.cmd.ProcessState.ExitCode()
		}()
		t.Cleanup(func() { r.cmd.Process.Kill() })
		ranks[i] = r
	}
	return ranks
}

// freePort returns a port below those that systems choose for connections, which other tests make.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(15000 + rand.IntN(15000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Skip("no port is free")
	return ""
}

// checkEnd fails the test unless all ranks but one end with an error that names the rank and a cause.
func checkEnd(t *testing.T, ranks []*testRank, odd int, within time.Duration, want ...string) {
	t.Helper()
	deadline := time.After(within)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for i, r := range ranks {
		if i == odd || r == nil {
			continue
		}
		select {
		case status := <-r.status:
			text := r.stderr.String()
			for _, w := range want {
				if !strings.Contains(text, w) || status != 1 {
					t.Errorf("rank %d ended with status %d and %q, want 1 and %q", i, status, text, w)
				}
			}
		case <-deadline:
			t.Fatalf("rank %d did not end within %v", i, within)
		}
	}
}

// A rank that ends, or whose graph differs, ends all others with an error that names it.
func TestProcesses(t *testing.T) {
	host := hostName()
	for _, c := range []struct {
		how  string
		odd  int
		want []string
	}{
		{"exit", 2, []string{"rank 2 on host " + host, "ended without Close", "in step 2"}},
		{"exit", 0, []string{"rank 0 on host " + host, "ended without Close"}},
		{"differ", 1, []string{"graph differs: collective 21", "float32 []"}},
		{"close", 1, []string{"rank 1 on host " + host, "closed its group after 20 collectives"}},
		{"memory", 2, []string{"rank 2 on host " + host, "out of memory"}},
	} {
		t.Run(fmt.Sprint(c.how, c.odd), func(t *testing.T) {
			t.Parallel()
			checkEnd(t, startRanks(t, c.how, c.odd, 4), c.odd, 10*time.Second, c.want...)
		})
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		for i, r := range startRanks(t, "once", 0, 4) {
			if status := <-r.status; status != 0 || r.stderr.Len() > 0 {
				t.Errorf("rank %d ended with status %d and %q", i, status, r.stderr.String())
			}
		}
	})
}
