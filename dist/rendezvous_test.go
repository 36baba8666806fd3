package dist

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/shape"
)

// joinAll joins ranks of a group at a port of this machine, and returns their errors.
func joinAll(t *testing.T, size int, deadline time.Duration, secrets map[int]string, ranks ...int) []error {
	t.Helper()
	master := "127.0.0.1:" + freePort(t)
	errs := make([]error, len(ranks))
	groups := make([]*Group, len(ranks))
	var joining sync.WaitGroup
	for i, rank := range ranks {
		joining.Go(func() {
			groups[i], errs[i] = join(setting{rank: rank, size: size, master: master, secret: secrets[rank]}, (&Options{Deadline: deadline}).withDefaults())
		})
	}
	stray, err := net.DialTimeout("tcp", master, time.Second)
	if err == nil {
		defer stray.Close()
		stray.Write([]byte("GET / HTTP/1.0\r\n\r\n" + strings.Repeat("x", 4096)))
	}
	joining.Wait()
	var closing sync.WaitGroup
	for _, g := range groups {
		if g != nil {
			closing.Go(func() { g.Close() })
		}
	}
	closing.Wait()
	return errs
}

// All ranks that came say which one did not, or why the group is impossible.
func TestRendezvous(t *testing.T) {
	for name, c := range map[string]struct {
		size    int
		ranks   []int
		secrets map[int]string
		want    []string // for each rank, "" for success
	}{
		"all":         {3, []int{0, 1, 2}, nil, []string{"", "", ""}},
		"missing":     {5, []int{0, 1, 3}, nil, []string{"2 of 5 ranks did not come within 1s: 2, 4", "2 of 5 ranks did not come within 1s: 2, 4", "2, 4"}},
		"no rank 0":   {2, []int{1}, nil, []string{"rank 0 did not come within 1s to 127.0.0.1:"}},
		"twice":       {3, []int{0, 1, 1}, nil, []string{"two processes are rank 1", "", ""}},
		"another job": {2, []int{0, 1}, map[int]string{0: "a", 1: "b"}, []string{"1 of 2 ranks did not come within 1s: 1", "the connection was refused"}},
		"many":        {64, shape.All(64), nil, make([]string, 64)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deadline := time.Second
			if slices.Max(c.want) == "" { // all come
				deadline = time.Minute
			}
			for i, err := range joinAll(t, c.size, deadline, c.secrets, c.ranks...) {
				want := c.want[i]
				if (want == "") != (err == nil) && name != "twice" || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("rank %d: %v, want %q", c.ranks[i], err, want)
				}
			}
		})
	}
}

// A rank that lives and does not come is named after a while.
func TestStall(t *testing.T) {
	start := time.Now()
	s := &stall{limit: time.Minute, since: start}
	for _, c := range []struct {
		after  time.Duration
		counts []int64
		want   int
	}{
		{0, []int64{3, 3, 3}, -1},
		{10 * time.Minute, []int64{3, 3, 3}, -1}, // all compute
		{11*time.Minute - time.Second, []int64{3, 3, 3}, -1},
		{11 * time.Minute, []int64{4, 3, 4}, -1},
		{11*time.Minute + 50*time.Second, []int64{4, 3, 4}, -1},
		{12*time.Minute + 10*time.Second, []int64{4, 3, 4}, 1},
		{13 * time.Minute, []int64{5, 4, 5}, -1}, // it came
	} {
		if got, _ := s.check(c.counts, start.Add(c.after)); got != c.want {
			t.Errorf("after %v, counts %v: rank %d, want %d", c.after, c.counts, got, c.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want setting
		err  string
	}{
		"none": {nil, setting{launcher: "none", size: 1}, ""},
		"torchrun": {map[string]string{"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "a", "MASTER_PORT": "29500", "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "j"},
			setting{launcher: "torchrun", rank: 3, size: 4, local: 1, master: "a:29501", secret: "j"}, ""},
		"Kubeflow": {map[string]string{"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "job-master-0", "MASTER_PORT": "23456"},
			setting{launcher: "torchrun", size: 2, master: "job-master-0:23456"}, ""},
		"SLURM": {map[string]string{"SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_JOB_NODELIST": "gpu[003-005,7],x"},
			setting{launcher: "SLURM", rank: 5, size: 8, local: 1, master: "gpu003:26745", secret: "77"}, ""},
		"Open MPI": {map[string]string{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "MASTER_PORT": "4000"},
			setting{launcher: "Open MPI", rank: 1, size: 2, local: 1, master: "127.0.0.1:4000"}, ""},
		"MPICH":     {map[string]string{"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0", "MASTER_ADDR": "::1", "MASTER_PORT": "4000"}, setting{launcher: "MPICH", rank: 1, size: 2, master: "[::1]:4000"}, ""},
		"rank":      {map[string]string{"RANK": "4", "WORLD_SIZE": "4"}, setting{}, `RANK of torchrun is "4", want a number from 0 to 3`},
		"size":      {map[string]string{"RANK": "0", "WORLD_SIZE": "1e9"}, setting{}, `WORLD_SIZE of torchrun is "1e9"`},
		"no master": {map[string]string{"RANK": "0", "WORLD_SIZE": "2"}, setting{}, "set MASTER_ADDR"},
		"no port":   {map[string]string{"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a"}, setting{}, "set MASTER_PORT"},
		"bad port":  {map[string]string{"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "http"}, setting{}, `MASTER_PORT is "http"`},
	} {
		got, err := fromEnvironment(func(name string) string { return c.env[name] })
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	for list, want := range map[string]string{"a": "a", "a,b": "a", "n[1-3]": "n1", "n[08,10]-ib,m": "n08-ib", "": ""} {
		if got := firstHost(list); got != want {
			t.Errorf("the first host of %q is %q, want %q", list, got, want)
		}
	}
}

// Messages from the network have a bound, and cannot make a process allocate more.
func TestHostileMessages(t *testing.T) {
	for name, bytes := range map[string]string{
		"long":  "\xff\xff\xff\xff",
		"JSON":  "\x02\x00\x00\x00{]",
		"short": "\x20\x00\x00\x00{}",
	} {
		a, b := net.Pipe()
		go func() {
			a.Write([]byte(bytes))
			a.Close()
		}()
		if _, err := next(b, 2, time.Second); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	a, b := net.Pipe()
	go func() {
		a.Read(make([]byte, len(protocol)+nonceSize))
		a.Write([]byte(strings.Repeat("\x00", nonceSize+32) + "\x02\x00\x00\x00{}"))
		a.Close()
	}()
	if who, err := receive(b, ""); err == nil {
		t.Errorf("a stranger is accepted as %+v", who)
	}
}
