package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// PeerOptions are the options of a comparison.
type PeerOptions struct {
	Dir     string // of the peers' programs
	Python  string // the interpreter; "" is the first on PATH that has the library
	Works   []Work
	Device  string                         // the name of the GPU; "" for the CPU
	OpenGPU func() (*tensor.Device, error) // opens it; nil for the CPU
	Threads int
	Time    time.Duration // for each work in each round
}

// A Peer is a library to compare with: a program in bench/peers that measures the works.
// README.md there describes the protocol.
type Peer struct {
	Name    string
	Install string // how to install it
	// programs returns the programs that may be able to run it, in order of preference.
	programs func(ctx context.Context, o PeerOptions) ([]program, error)
}

// Peers has all peers.
var Peers = []Peer{
	{"numpy", "apt-get install python3-numpy, or pip install numpy", python("numpy_peer.py")},
	{"pytorch", "apt-get install python3-torch, or pip install torch numpy", python("pytorch_peer.py")},
	{"gonum", "needs the go command and, once, a network", goProgram("gonum", "", "")},
	{"gomlx", "needs the go command and, once, a network", goProgram("gomlx", "", "")},
	{"gomlx-simd", "needs a version of GoMLX in bench/peers/go.mod that uses the experiment", goProgram("gomlx", "simd", "simd/archsimd")},
}

// GPUPeers has the peers of GPUs.
var GPUPeers = []Peer{
	{"pytorch", "needs a GPU of NVIDIA and pip install torch numpy", python("pytorch_gpu_peer.py")},
	{"torch-compile", "needs a GPU of NVIDIA and pip install torch numpy", python("torch_compile_peer.py")},
	{"torch-graph", "needs a GPU of NVIDIA and pip install torch numpy", python("torch_graph_peer.py")},
	{"jax", "needs a GPU of NVIDIA and pip install jax[cuda13] numpy", python("jax_peer.py")},
}

// A Found is a peer that is installed.
type Found struct {
	Name  string `json:"name"`
	About string `json:"about"` // the library with its version, and its runtime

	program program
	works   []string
}

// A Missing is a peer that is not installed.
type Missing struct {
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Install string `json:"install"`
}

// FindPeers finds the peers that are installed, and builds those in Go.
func FindPeers(ctx context.Context, s Suite, o PeerOptions) (found []Found, missing []Missing, err error) {
	found, missing = []Found{}, []Missing{} // not null in JSON
	for _, p := range s.Peers {
		f, err := p.find(ctx, o)
		switch {
		case ctx.Err() != nil:
			return nil, nil, errors.New("interrupted")
		case err != nil:
			missing = append(missing, Missing{p.Name, err.Error(), p.Install})
			continue
		}
		for _, name := range f.works {
			if !slices.ContainsFunc(s.Works, func(w Work) bool { return w.Name == name }) {
				return nil, nil, fmt.Errorf("peer %s measures %q, which is no work of this command", p.Name, name)
			}
		}
		found = append(found, f)
	}
	return found, missing, nil
}

// find returns a peer with the first of its programs that answers, or the reason why none does.
func (p Peer) find(ctx context.Context, o PeerOptions) (Found, error) {
	programs, err := p.programs(ctx, o)
	if err != nil {
		return Found{}, err
	}
	var failure error
	for _, c := range programs {
		out, err := c.run(ctx, "--about")
		var reply struct {
			About string   `json:"about"`
			Works []string `json:"works"`
		}
		if err == nil {
			err = json.Unmarshal(out, &reply)
		}
		if err == nil {
			return Found{p.Name, reply.About + ", " + c.path, c, reply.Works}, nil
		}
		failure = err
	}
	return Found{}, failure
}

// measure runs a peer's program on the works that it has.
func (f Found) measure(ctx context.Context, o PeerOptions) ([]Time, error) {
	args := []string{"--threads", strconv.Itoa(o.Threads), "--seconds", strconv.FormatFloat(o.Time.Seconds(), 'g', -1, 64)}
	var want, got []string
	for _, w := range o.Works {
		if slices.Contains(f.works, w.Name) {
			want = append(want, w.Name)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	out, err := f.program.run(ctx, append(args, want...)...)
	if err != nil {
		return nil, fmt.Errorf("peer %s: %w", f.Name, err)
	}
	var times []Time
	for line := range bytes.Lines(out) {
		var t Time
		if err := json.Unmarshal(line, &t); err != nil || t.Seconds <= 0 && t.Error == "" {
			return nil, fmt.Errorf("peer %s printed %q, want a line of JSON with a time or an error", f.Name, bytes.TrimSpace(line))
		}
		times, got = append(times, t), append(got, t.Work)
	}
	if !slices.Equal(got, want) {
		return nil, fmt.Errorf("peer %s measured %v, want %v", f.Name, got, want)
	}
	return times, nil
}

// A program is how to run a peer.
type program struct {
	path string
	args []string // before all others
	env  []string // beside this process's
	dir  string   // where it runs; "" is here
}

// run runs a program and returns its standard output. An error has the last lines of its
// standard error.
func (p program) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.path, slices.Concat(p.args, args)...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Dir = p.dir
	cmd.WaitDelay = time.Second
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return nil, errors.New(strings.Join(append([]string{err.Error()}, lastLines(log.String())...), " | "))
	}
	return out.Bytes(), nil
}

// lastLines returns the last three lines that are not blank.
func lastLines(text string) (last []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			last = append(last, line)
		}
	}
	return last[max(0, len(last)-3):]
}
