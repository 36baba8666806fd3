package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tensorken/tensorken/internal/bench"
)

const (
	benchCell  = "%-13s  %-13s  %6v"
	benchSpeed = "  │ %10s  %8s  %9s"
)

// printBenchHead prints the head of the table, with a group of columns for each device.
func printBenchHead(w io.Writer, devices []benchDevice) {
	var over, head strings.Builder
	fmt.Fprintf(&over, benchCell, "", "", "")
	fmt.Fprintf(&head, benchCell, "operation", "layout", "n")
	for _, d := range devices {
		fmt.Fprintf(&over, "  │ %-31s", d.name)
		fmt.Fprintf(&head, benchSpeed, "time", "GB/s", "GFLOP/s")
	}
	if len(devices) == 2 {
		head.WriteString("  │  ratio")
	}
	fmt.Fprintf(w, "\n%s\n%s\n", strings.TrimRight(over.String(), " "), head.String())
}

// printBenchLine prints a cell with its times; a row is nil if there is no time.
func printBenchLine(w io.Writer, c bench.Cell, rows []*bench.Row) {
	var b strings.Builder
	fmt.Fprintf(&b, benchCell, c.Op.Name, c.Layout, c.N)
	for _, r := range rows {
		if r == nil {
			fmt.Fprintf(&b, benchSpeed, "-", "-", "-")
			continue
		}
		fmt.Fprintf(&b, benchSpeed, duration(r.Seconds), bench.Short(r.BytesPerS/1e9), bench.Short(r.FlopsPerS/1e9))
	}
	if len(rows) == 2 {
		ratio := "-"
		if rows[0] != nil && rows[1] != nil {
			ratio = bench.Short(rows[0].Seconds / rows[1].Seconds)
		}
		fmt.Fprintf(&b, "  │ %6s", ratio)
	}
	fmt.Fprintln(w, b.String())
}

// duration formats a time in µs, ms or s.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return bench.Short(seconds*1e6) + " µs"
	case seconds < 1:
		return bench.Short(seconds*1e3) + " ms"
	}
	return bench.Short(seconds) + " s"
}
