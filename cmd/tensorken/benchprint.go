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
		fmt.Fprintf(&b, benchSpeed, duration(r.Seconds), short(r.BytesPerS/1e9), short(r.FlopsPerS/1e9))
	}
	if len(rows) == 2 {
		ratio := "-"
		if rows[0] != nil && rows[1] != nil {
			ratio = short(rows[0].Seconds / rows[1].Seconds)
		}
		fmt.Fprintf(&b, "  │ %6s", ratio)
	}
	fmt.Fprintln(w, b.String())
}

// duration formats a time in µs, ms or s.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return short(seconds*1e6) + " µs"
	case seconds < 1:
		return short(seconds*1e3) + " ms"
	}
	return short(seconds) + " s"
}

// short formats x with about three digits.
func short(x float64) string {
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
