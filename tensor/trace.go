package tensor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/sorts"
)

// A kernelSum adds up the runs of kernels that have the same device, line and name.
type kernelSum struct {
	KernelTime // the first of them
	calls      int
	total      time.Duration
	bytes      float64
	flops      float64
}

// sums returns the runs of a device added up, those that take most of the time first.
func (t *Trace) sums(d *Device) []*kernelSum {
	type key struct{ template, name, site string }
	index := map[key]*kernelSum{}
	var sums []*kernelSum
	for _, k := range t.Kernels {
		if k.Device != d {
			continue
		}
		s := index[key{k.Template, k.Name, k.Site}]
		if s == nil {
			s = &kernelSum{KernelTime: k}
			index[key{k.Template, k.Name, k.Site}] = s
			sums = append(sums, s)
		}
		s.calls++
		s.total += k.Duration
		s.bytes += float64(k.Bytes)
		s.flops += float64(k.FLOPs)
	}
	sorts.Stable(sums, func(a, b *kernelSum) int { return cmp.Compare(b.total, a.total) })
	return sums
}

// devices returns the devices of the kernels, in order of their first kernels.
func (t *Trace) devices() []*Device {
	var list []*Device
	for _, k := range t.Kernels {
		if !slices.Contains(list, k.Device) {
			list = append(list, k.Device)
		}
	}
	return list
}

// String returns a table for each device: the runs of kernels of equal name and line added
// up, those that take most of the time first. Share is a share of the time of all kernels. Peak is
// the greater share of the device's [Peak]: of its bytes or of its operations a second. It
// may be over 100 % if the data are in a cache.
func (t *Trace) String() string {
	var b strings.Builder
	for _, d := range t.devices() {
		t.table(&b, d)
	}
	if b.Len() == 0 {
		return fmt.Sprintf("no kernels in %v\n", t.Wall.Round(time.Microsecond))
	}
	return b.String()
}

// table writes the table of a device.
func (t *Trace) table(b *strings.Builder, d *Device) {
	sums, peak := t.sums(d), t.Peaks[d]
	var total time.Duration
	calls, width, waited := 0, len("line"), false
	for _, s := range sums {
		total += s.total
		calls += s.calls
		width = max(width, len(s.Site))
		waited = waited || s.Waited
	}
	fmt.Fprintf(b, "%v: %s, %s of %s", d, shape.Count(calls, "kernel"), milliseconds(total), milliseconds(t.Wall))
	fmt.Fprintf(b, "; peak %.3g GB/s, %.4g GFLOP/s\n", peak.Bytes/1e9, peak.FLOPs/1e9)
	if waited {
		b.WriteString("The device has no timestamps: times are the host's, with the wait for each kernel.\n")
	}
	fmt.Fprintf(b, "%12s %6s %6s %8s %8s %6s  %-11s %-*s kernel\n", "time", "share", "calls", "GB/s", "GFLOP/s", "peak", "template", width, "line")
	for _, s := range sums {
		bytes, flops := rate(s.bytes, s.total), rate(s.flops, s.total)
		share := max(over(bytes, peak.Bytes), over(flops, peak.FLOPs))
		fmt.Fprintf(b, "%12s %5.1f%% %6d %8.4g %8.4g %5.0f%%  %-11s %-*s %s\n", milliseconds(s.total), 100*over(float64(s.total), float64(total)),
			s.calls, bytes/1e9, flops/1e9, 100*share, s.Template, width, cmp.Or(s.Site, "-"), s.Name)
	}
}

// rate is an amount a second.
func rate(amount float64, t time.Duration) float64 { return over(amount, t.Seconds()) }

// over is x/y, 0 if y is.
func over(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.3f ms", 1e3*d.Seconds()) }

// A traceEvent is an event of Chrome's trace format; times are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"` // X: has a duration; M: names a process
	Start    float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args"`
}

// WriteTrace writes the kernels as JSON in Chrome's trace event format, which
// ui.perfetto.dev and chrome://tracing open: a process for each device, with as many
// threads as kernels ran at once.
func (t *Trace) WriteTrace(w io.Writer) error {
	type file struct {
		Events []traceEvent `json:"traceEvents"`
		Unit   string       `json:"displayTimeUnit"`
	}
	if w == nil {
		return errors.New("tensor: WriteTrace: the writer is nil")
	}
	f := file{Events: []traceEvent{}, Unit: "ms"}
	devices := t.devices()
	for i, d := range devices {
		f.Events = append(f.Events, traceEvent{Name: "process_name", Phase: "M", Process: i + 1, Args: map[string]any{"name": d.String()}})
	}
	ends := make([][]time.Duration, len(devices)) // of the last kernel of each thread
	for _, k := range t.Kernels {
		i := slices.Index(devices, k.Device)
		thread := slices.IndexFunc(ends[i], func(end time.Duration) bool { return end <= k.Start })
		if thread < 0 {
			thread = len(ends[i])
			ends[i] = append(ends[i], 0)
		}
		ends[i][thread] = k.Start + k.Duration
		seconds := k.Duration.Seconds()
		f.Events = append(f.Events, traceEvent{
			Name: cmp.Or(k.Site, k.Template), Category: k.Template, Phase: "X", Process: i + 1, Thread: thread + 1,
			Start: microseconds(k.Start), Duration: microseconds(k.Duration),
			Args: map[string]any{
				"kernel": k.Name, "line": k.Site, "bytes": k.Bytes, "flops": k.FLOPs,
				"GB/s": over(float64(k.Bytes), seconds) / 1e9, "GFLOP/s": over(float64(k.FLOPs), seconds) / 1e9,
			},
		})
	}
	return json.NewEncoder(w).Encode(f)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
