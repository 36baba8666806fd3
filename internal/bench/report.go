package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Report is the output of --peers --json.
type Report struct {
	Machine string       `json:"machine"`
	Device  string       `json:"device,omitempty"` // the GPU
	Threads int          `json:"threads"`
	Peers   []Found      `json:"peers"`
	Missing []Missing    `json:"missing"`
	Rows    []Comparison `json:"rows"`
}

// Print prints the machine and the peers.
func (r Report) Print(table io.Writer) {
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
}

// PrintRows prints the table: a column for each peer with its value and, in parentheses,
// the ratio to it.
func (r Report) PrintRows(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	cells := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	head := []string{"work", "unit", Ours}
	for _, p := range r.Peers {
		head = append(head, p.Name)
	}
	fmt.Fprintln(out)
	cells(append(head, "ratio", "bar", "met", "spread")...)
	for _, row := range r.Rows {
		line := []string{row.Work, string(row.Unit), Short(row.Values[Ours])}
		for _, p := range r.Peers {
			cell := "-"
			if ratio, ok := row.Ratios[p.Name]; ok {
				cell = fmt.Sprintf("%s (%.2f)", Short(row.Values[p.Name]), ratio)
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

// Short formats x with about three digits.
func Short(x float64) string {
	switch {
	case x < 0.1:
		return fmt.Sprintf("%.3f", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
