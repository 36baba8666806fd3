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

	"github.com/tensorken/tensorken/internal/terminal"
)

// A display shows the progress of a loop.
type display struct {
	out            io.Writer
	live           bool
	columns        func() int // width of the terminal, 0 if unknown
	epochs, perRun int        // epochs in total, examples in each
	start, shown   time.Time
	last           Metrics // of the last finished epoch
}

// Intervals of updates during an epoch: of the live line, and of printed lines if the
// output is no terminal.
const (
	liveEvery  = 100 * time.Millisecond
	plainEvery = 10 * time.Second
)

func newDisplay(out io.Writer, epochs, examples int) *display {
	if out == nil {
		out = os.Stderr
	}
	now := time.Now()
	return &display{out: out, live: terminal.Is(out), columns: func() int { return terminal.Columns(out) }, epochs: epochs, perRun: max(examples, 1), start: now, shown: now}
}

// progress shows the mean loss after seen examples of an epoch.
func (d *display) progress(epoch, seen int, loss float64) {
	every := plainEvery
	if d.live {
		every = liveEvery
	}
	if seen >= d.perRun || time.Since(d.shown) < every {
		return
	}
	d.shown = time.Now()
	total := (epoch-1)*d.perRun + seen
	m := maps.Clone(d.last)
	if m == nil {
		m = Metrics{}
	}
	m["loss"] = loss
	if d.live {
		d.redraw(epoch, m, total)
		return
	}
	fmt.Fprintf(d.out, "%s %3.0f%%  %s\n", d.count(epoch), 100*float64(seen)/float64(d.perRun), d.status(m, total))
}

// epochDone shows the metrics of a finished epoch.
func (d *display) epochDone(epoch int, m Metrics) {
	d.last, d.shown = m, time.Now()
	if d.live {
		d.redraw(epoch, m, epoch*d.perRun)
		return
	}
	fmt.Fprintf(d.out, "%s  %s\n", d.count(epoch), d.status(m, epoch*d.perRun))
}

// count formats the epoch and the number of epochs.
func (d *display) count(epoch int) string {
	return fmt.Sprintf("epoch %*d/%d", len(fmt.Sprint(d.epochs)), epoch, d.epochs)
}

// status formats metrics, speed and time left after total examples.
func (d *display) status(m Metrics, total int) string {
	var b strings.Builder
	for _, name := range names(m) {
		fmt.Fprintf(&b, "%s %.4f  ", name, m[name])
	}
	elapsed := time.Since(d.start)
	speed := float64(total) / max(elapsed.Seconds(), 1e-9)
	left := time.Duration(float64(d.epochs*d.perRun-total) / speed * float64(time.Second))
	fmt.Fprintf(&b, "%.0f samples/s  %s left", speed, clock(left))
	return b.String()
}

// redraw replaces the live line. Its bar shows the progress over all epochs. The line
// must fit the terminal, because \r returns to the start of a wrapped line's last row
// only: redraw shortens the bar first, then cuts the end of the line.
func (d *display) redraw(epoch int, m Metrics, total int) {
	const maxBar, minBar = 20, 5 // columns
	share := float64(total) / float64(d.epochs*d.perRun)
	head, tail := d.count(epoch), fmt.Sprintf(" %3.0f%%  %s", 100*share, d.status(m, total))
	room, size := math.MaxInt, maxBar
	if n := d.columns(); n > 0 {
		room = n - 1 // terminals differ in how they treat a cursor after the last column
		size = min(maxBar, room-utf8.RuneCountInString(head+" "+tail))
	}
	if size >= minBar {
		head += " " + bar(share, size)
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
