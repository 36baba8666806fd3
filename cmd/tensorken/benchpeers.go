package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/cmd/tensorken/internal/launch"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/tensor"
)

// peerOptions are the flags of bench that belong to --peers.
type peerOptions struct {
	compare            bool
	works, dir, python string
}

// A mode is a way of measuring.
type mode struct {
	flags []string // that ask for it; errors name the last one
	reads []string
}

// modes lists the ways of measuring: the first one whose flags are all given is used. The last one measures operations.
var modes = []mode{
	{[]string{"ranks", "peers"}, []string{"device", "time", "works", "peers-dir", "python"}},
	{[]string{"ranks"}, []string{"device", "time", "works"}},
	{[]string{"peers"}, []string{"device", "threads", "time", "json", "works", "peers-dir", "python"}},
	{[]string{"model"}, []string{"device", "json", "cache-type"}},
	{nil, []string{"ops", "sizes", "max", "device", "threads", "time", "json", "plot"}},
}

// checkMode refuses flags that were set and would change nothing.
func checkMode(set func(flag string) bool) error {
	missing := func(flag string) bool { return !set(flag) }
	m := modes[slices.IndexFunc(modes, func(m mode) bool { return !slices.ContainsFunc(m.flags, missing) })]
	for _, other := range modes {
		for _, name := range slices.Concat(other.flags, other.reads) {
			if !set(name) || slices.Contains(m.flags, name) || slices.Contains(m.reads, name) {
				continue
			}
			var readers []string // the flags of modes that read it
			for _, r := range modes {
				if slices.Contains(r.reads, name) && len(r.flags) > 0 {
					readers = append(readers, "--"+r.flags[len(r.flags)-1])
				}
			}
			if last := modes[len(modes)-1]; len(readers) > 0 && !slices.Contains(last.reads, name) {
				slices.Sort(readers)
				return fmt.Errorf("--%s goes only with %s", name, strings.Join(slices.Compact(readers), " or "))
			}
			return fmt.Errorf("--%s does not go with --%s", name, m.flags[0])
		}
	}
	return nil
}

// benchRanks measures several ranks, and then their peers.
func (o benchOptions) benchRanks(ctx context.Context, stdout io.Writer) error {
	if err := o.limits(); err != nil {
		return err
	}
	m, err := launch.Bench(ctx, o.peers.works, o.devices, o.budget, stdout)
	if err != nil || !o.peers.compare || m.Rank > 0 {
		return err
	}
	options := bench.PeerOptions{Dir: o.peers.dir, Python: o.peers.python, Threads: runtime.GOMAXPROCS(0), Time: o.budget, Works: m.Works, Device: "cuda"}
	r := bench.Report{Machine: o.machine(), Threads: options.Threads}
	if r.Peers, r.Missing, err = bench.FindPeers(ctx, m.Suite, options); err != nil {
		return err
	}
	r.Print(stdout)
	if r.Rows, err = bench.CompareMeasured(ctx, options, r.Peers, m.Times); len(r.Rows) > 0 {
		r.PrintRows(stdout)
	}
	return err
}

// comparePeers measures this library and its peers, and prints the table.
func (o benchOptions) comparePeers(ctx context.Context, stdout, stderr io.Writer) error {
	suite, options, err := o.peerOptions()
	if err != nil {
		return err
	}
	table := stdout
	if o.json {
		table = stderr
	}
	r := bench.Report{Machine: o.machine(), Threads: options.Threads}
	if options.Device != "" {
		d, err := options.OpenGPU()
		if err != nil {
			return err
		}
		r.Device = describe(d.String())
		d.Close() // peers need its memory
	}
	if r.Peers, r.Missing, err = bench.FindPeers(ctx, suite, options); err != nil {
		return err
	}
	r.Print(table)
	if r.Rows, err = bench.Compare(ctx, options, r.Peers, stderr); len(r.Rows) == 0 {
		return err
	}
	r.PrintRows(table)
	if o.json {
		err = errors.Join(json.NewEncoder(stdout).Encode(r), err)
	}
	return err
}

// peerOptions returns the flags' options of a comparison.
func (o benchOptions) peerOptions() (s bench.Suite, p bench.PeerOptions, err error) {
	if err := o.limits(); err != nil {
		return s, p, err
	}
	if len(o.devices) > 1 {
		return s, p, fmt.Errorf("--device names %d devices: with --peers, want one", len(o.devices))
	}
	p = bench.PeerOptions{Dir: o.peers.dir, Python: o.peers.python, Threads: o.used(), Time: o.budget}
	if len(o.devices) == 1 && o.devices[0] != "cpu" {
		p.Device = o.devices[0]
		p.OpenGPU = func() (*tensor.Device, error) {
			d, _, err := device.Open(p.Device)
			return d, err
		}
	}
	if p.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
	}
	if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
		return s, p, fmt.Errorf("--peers-dir: there is no folder %s: run it in a clone of the repository, or name bench/peers there", p.Dir)
	}
	chosen, err := regexp.Compile(o.peers.works)
	if err != nil {
		return s, p, fmt.Errorf("--works: %w", err)
	}
	s = bench.SuiteOf(p.Device)
	var names []string
	for _, w := range s.Works {
		names = append(names, w.Name)
		if chosen.MatchString(w.Name) {
			p.Works = append(p.Works, w)
		}
	}
	if len(p.Works) == 0 {
		return s, p, fmt.Errorf("--works %s: no work has such a name, but %s", o.peers.works, strings.Join(names, ", "))
	}
	return s, p, nil
}
