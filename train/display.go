package train

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/terminal"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A display shows the progress of a loop.
type display struct {
	out          io.Writer
	live         bool
	columns      func() int // width of the terminal, 0 if unknown
	memory       func() int64
	start, shown time.Time
	from         float64 // the share that was done at the start
	last         Metrics // of the last report
}

// A progress says how far a run is.
type progress struct {
	unit        string // epoch or step
	done, total int
	share       float64 // of the run
	within      float64 // share of the epoch, 0 at its ends
	seen        int     // examples since the start
}

// Intervals of updates between reports: of the live line, and of printed lines if the
// output is not a terminal.
const (
	liveEvery  = 100 * time.Millisecond
	plainEvery = 10 * time.Second
)

func newDisplay(out io.Writer) *display {
	if out == nil {
		out = os.Stderr
	}
	now := time.Now()
	return &display{
		out: out, live: terminal.Is(out), columns: func() int { return terminal.Columns(out) },
		memory: func() int64 { return tensor.Info().Held }, start: now, shown: now,
	}
}

// header shows the device and the size of a model, and how much of the run is done.
func (d *display) header(model any, from float64) {
	d.from = from
	on := tensor.Default()
	for _, t := range tree.All(model) {
		if t.Device() != nil {
			on = t.Device()
			break
		}
	}
	fmt.Fprintf(d.out, "%v, %s\n", on, shape.Count(tree.Size(model), "parameter"))
}

// progress shows the mean loss since the last report.
func (d *display) progress(p progress, loss float64) {
	every := plainEvery
	if d.live {
		every = liveEvery
	}
	if time.Since(d.shown) < every {
		return
	}
	m := maps.Clone(d.last)
	if m == nil {
		m = Metrics{}
	}
	m["loss"] = loss
	d.show(p, m)
}

// report shows the metrics of a report.
func (d *display) report(p progress, m Metrics) {
	d.last = m
	d.show(p, m)
}

func (d *display) show(p progress, m Metrics) {
	d.shown = time.Now()
	if d.live {
		d.redraw(p, m)
		return
	}
	within := ""
	if p.within > 0 && p.within < 1 {
		within = fmt.Sprintf(" %3.0f%%", 100*p.within)
	}
	fmt.Fprintf(d.out, "%s%s  %s\n", p, within, d.status(p, m))
}

// String formats the epochs or steps done, and their number.
func (p progress) String() string {
	return fmt.Sprintf("%s %*d/%d", p.unit, len(fmt.Sprint(p.total)), p.done, p.total)
}

// status formats metrics, speed, memory of tensors and time left.
func (d *display) status(p progress, m Metrics) string {
	var b strings.Builder
	for _, name := range names(m) {
		fmt.Fprintf(&b, "%s %.4f  ", name, m[name])
	}
	elapsed := time.Since(d.start)
	left := time.Duration(0)
	if p.share > d.from {
		left = time.Duration(float64(elapsed) * max(1-p.share, 0) / (p.share - d.from))
	}
	fmt.Fprintf(&b, "%.0f samples/s  ", float64(p.seen)/max(elapsed.Seconds(), 1e-9))
	if held := d.memory(); held > 0 {
		fmt.Fprintf(&b, "memory %s  ", hostmem.Size(int(held)))
	}
	fmt.Fprintf(&b, "%s left", clock(left))
	return b.String()
}

// redraw replaces the live line. Its bar shows the progress of the run. The line
// must fit the terminal, because \r returns to the start of a wrapped line's last row
// only: redraw shortens the bar first, then cuts the end of the line.
func (d *display) redraw(p progress, m Metrics) {
	const maxBar, minBar = 20, 5 // columns
	head, tail := p.String(), fmt.Sprintf(" %3.0f%%  %s", 100*p.share, d.status(p, m))
	room, size := math.MaxInt, maxBar
	if n := d.columns(); n > 0 {
		room = n - 1 // terminals differ in how they treat a cursor after the last column
		size = min(maxBar, room-utf8.RuneCountInString(head+" "+tail))
	}
	if size >= minBar {
		head += " " + bar(p.share, size)
	}
	line := []rune(head + tail)
	fmt.Fprintf(d.out, "\r%s\x1b[K", string(line[:min(len(line), room)]))
}

// close ends the live line.
func (d *display) close() {
	if d.live && d.shown != d.start {
		fmt.Fprintln(d.out)
	}
}

// bar returns a bar of the given width, filled to share.
func bar(share float64, columns int) string {
	full := min(max(int(share*float64(columns)), 0), columns)
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// clock formats a time in minutes and seconds: "1:05".
func clock(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// names returns the names of metrics in order, but "loss" first.
func names(m Metrics) []string {
	all := slices.Sorted(maps.Keys(m))
	if i := slices.Index(all, "loss"); i > 0 {
		all = slices.Insert(slices.Delete(all, i, i+1), 0, "loss")
	}
	return all
}
