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
	"text/tabwriter"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/tensor"
)

// peerOptions are the flags of bench that belong to --peers.
type peerOptions struct {
	compare            bool
	works, dir, python string
}

// check refuses flags that were given and do not go together.
func (o peerOptions) check(given func(flag string) bool) error {
	mine, others := []string{"works", "peers-dir", "python"}, []string{"ops", "sizes", "max", "plot"}
	if o.compare {
		if i := slices.IndexFunc(others, given); i >= 0 {
			return fmt.Errorf("--%s does not go with --peers", others[i])
		}
		return nil
	}
	if given("ranks") {
		mine = mine[1:]
	}
	if i := slices.IndexFunc(mine, given); i >= 0 {
		return fmt.Errorf("--%s goes only with --peers", mine[i])
	}
	return nil
}

// A peerReport is the output of --peers --json.
type peerReport struct {
	Machine string             `json:"machine"`
	Device  string             `json:"device,omitempty"` // the GPU
	Threads int                `json:"threads"`
	Peers   []bench.Found      `json:"peers"`
	Missing []bench.Missing    `json:"missing"`
	Rows    []bench.Comparison `json:"rows"`
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
	r := peerReport{Machine: o.machine(), Threads: options.Threads}
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
	fmt.Fprintln(table, "machine:", r.Machine)
	if r.Device != "" {
		fmt.Fprintln(table, "device:", r.Device)
	}
	for _, p := range r.Peers {
		fmt.Fprintf(table, "%s: %s\n", p.Name, p.About)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(table, "%s: not available: %s; to install: %s\n", m.Name, m.Reason, m.Install)
	}
	if r.Rows, err = bench.Compare(ctx, options, r.Peers, stderr); len(r.Rows) == 0 {
		return err
	}
	printPeers(table, r)
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

// printPeers prints the table: a column for each peer with its value and, in parentheses,
// the ratio to it.
func printPeers(out io.Writer, r peerReport) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	cells := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	head := []string{"work", "unit", bench.Ours}
	for _, p := range r.Peers {
		head = append(head, p.Name)
	}
	fmt.Fprintln(out)
	cells(append(head, "ratio", "bar", "met", "spread")...)
	for _, row := range r.Rows {
		line := []string{row.Work, string(row.Unit), short(row.Values[bench.Ours])}
		for _, p := range r.Peers {
			cell := "-"
			if ratio, ok := row.Ratios[p.Name]; ok {
				cell = fmt.Sprintf("%s (%.2f)", short(row.Values[p.Name]), ratio)
			}
			line = append(line, cell)
		}
		ratio, met := "-", "-"
		if row.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", row.Ratio)
		}
		if row.Bar.Most > 0 || row.Bar.Times > 0 && row.Ratio > 0 {
			met = map[bool]string{true: "yes", false: "no"}[row.Met]
		}
		cells(append(line, ratio, row.Bar.String(), met, fmt.Sprintf("%.0f %%", 100*row.Spread))...)
	}
	w.Flush()
}
