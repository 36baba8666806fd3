package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tensorken/tensorken/internal/bench"
)

// peerOptions are the flags of bench that belong to --peers.
type peerOptions struct {
	compare            bool
	works, dir, python string
}

// check refuses flags that were given and do not go together.
func (o peerOptions) check(given func(flag string) bool) error {
	mine, others := []string{"works", "peers-dir", "python"}, []string{"ops", "sizes", "max", "device", "plot"}
	if o.compare {
		if i := slices.IndexFunc(others, given); i >= 0 {
			return fmt.Errorf("--%s does not go with --peers", others[i])
		}
		return nil
	}
	if i := slices.IndexFunc(mine, given); i >= 0 {
		return fmt.Errorf("--%s goes only with --peers", mine[i])
	}
	return nil
}

// A peerReport is the output of --peers --json.
type peerReport struct {
	Machine string             `json:"machine"`
	Threads int                `json:"threads"`
	Peers   []bench.Found      `json:"peers"`
	Missing []bench.Missing    `json:"missing"`
	Rows    []bench.Comparison `json:"rows"`
}

// comparePeers measures this library and its peers, and prints the table.
func (o benchOptions) comparePeers(ctx context.Context, stdout, stderr io.Writer) error {
	options, err := o.peerOptions()
	if err != nil {
		return err
	}
	table := stdout
	if o.json {
		table = stderr
	}
	r := peerReport{Machine: o.machine(), Threads: options.Threads}
	if r.Peers, r.Missing, err = bench.FindPeers(ctx, bench.Peers, options); err != nil {
		return err
	}
	fmt.Fprintln(table, "machine:", r.Machine)
	for _, p := range r.Peers {
		fmt.Fprintf(table, "%s: %s\n", p.Name, p.About)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(table, "%s: not available: %s; to install: %s\n", m.Name, m.Reason, m.Install)
	}
	if r.Rows, err = bench.Compare(ctx, options, r.Peers, stderr); err != nil {
		return err
	}
	printPeers(table, r)
	if !o.json {
		return nil
	}
	return json.NewEncoder(stdout).Encode(r)
}

// peerOptions returns what the flags say about a comparison.
func (o benchOptions) peerOptions() (p bench.PeerOptions, err error) {
	if err := o.limits(); err != nil {
		return p, err
	}
	p = bench.PeerOptions{Dir: o.peers.dir, Python: o.peers.python, Threads: o.used(), Time: o.budget}
	if p.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
	}
	if _, err := os.Stat(p.Dir); err != nil {
		return p, fmt.Errorf("--peers-dir: %w: run it in a clone of the repository, or name bench/peers there", err)
	}
	chosen, err := regexp.Compile(o.peers.works)
	if err != nil {
		return p, fmt.Errorf("--works: %w", err)
	}
	for _, w := range bench.Works {
		if chosen.MatchString(w.Name) {
			p.Works = append(p.Works, w)
		}
	}
	if len(p.Works) == 0 {
		return p, fmt.Errorf("--works %s: no work has such a name, but %s", o.peers.works, strings.Join(workNames(), ", "))
	}
	return p, nil
}

func workNames() (names []string) {
	for _, w := range bench.Works {
		names = append(names, w.Name)
	}
	return names
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
			ratio, met = fmt.Sprintf("%.2f", row.Ratio), map[bool]string{true: "yes", false: "no"}[row.Met]
		}
		cells(append(line, ratio, row.Bar.String(), met, fmt.Sprintf("%.0f %%", 100*row.Spread))...)
	}
	w.Flush()
}
