package train

import (
	"bytes"
	"testing"
	"time"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func epochs(done, total int, share, within float64, seen int) progress {
	return progress{unit: "epoch", done: done, total: total, share: share, within: within, seen: seen}
}

func TestLive(t *testing.T) {
	var out bytes.Buffer
	d := newDisplay(&out)
	d.live = true
	d.memory = func() int64 { return 3 << 20 }
	d.start = d.start.Add(-100 * time.Second) // so long that the time of the test does not matter
	d.shown = d.start
	d.progress(epochs(1, 3, 0.2, 0.6, 6000), 0.25)
	d.progress(epochs(1, 3, 0.2, 0.6, 7000), 0.25) // too soon
	d.report(epochs(1, 3, 1./3, 0, 10000), Metrics{"accuracy": 0.5, "loss": 1})
	d.shown = d.start
	d.progress(epochs(2, 3, 0.5, 0.5, 15000), 0.125)
	d.close()
	want := "\repoch 1/3 ████░░░░░░░░░░░░░░░░  20%  loss 0.2500  60 samples/s  memory 3 MiB  6:40 left\x1b[K" +
		"\repoch 1/3 ██████░░░░░░░░░░░░░░  33%  loss 1.0000  accuracy 0.5000  100 samples/s  memory 3 MiB  3:20 left\x1b[K" +
		"\repoch 2/3 ██████████░░░░░░░░░░  50%  loss 0.1250  accuracy 0.5000  150 samples/s  memory 3 MiB  1:40 left\x1b[K\n"
	if got := out.String(); got != want {
		t.Errorf("live output is\n%q, want\n%q", got, want)
	}
}

// Without a terminal a line says how much of the epoch is done, and the time left counts
// from the step where the run resumed.
func TestPlain(t *testing.T) {
	var out bytes.Buffer
	d := newDisplay(&out)
	d.memory = func() int64 { return 1536 }
	d.header(nn.Linear{Weight: tensor.Ones(3, 4).To(tensor.CPU())}, 0.5)
	d.start = time.Now().Add(-20 * time.Second)
	d.shown = d.start
	d.progress(epochs(8, 12, 0.6, 0.2, 40), 0.25)
	d.report(progress{unit: "step", done: 700, total: 1000, share: 0.7, seen: 80}, Metrics{"loss": 1})
	want := tensor.CPU().String() + ", 12 parameters\n" +
		"epoch  8/12  20%  loss 0.2500  2 samples/s  memory 1.5 KiB  1:20 left\n" +
		"step  700/1000  loss 1.0000  4 samples/s  memory 1.5 KiB  0:30 left\n"
	if got := out.String(); got != want {
		t.Errorf("output is\n%s, want\n%s", got, want)
	}
}

// The live line is cut to the width of the terminal, its bar first.
func TestLiveFits(t *testing.T) {
	m := Metrics{"loss": 0.25, "accuracy": 0.5}
	for _, c := range []struct {
		columns int
		want    string
	}{
		{0, "epoch 2/4 ████████░░░░░░░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  memory 12 B  0:08 left"},
		{103, "epoch 2/4 ████████░░░░░░░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  memory 12 B  0:08 left"},
		{93, "epoch 2/4 ████░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  memory 12 B  0:08 left"},
		{88, "epoch 2/4 ██░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  memory 12 B  0:08 left"},
		{87, "epoch 2/4  40%  loss 0.2500  accuracy 0.5000  8 samples/s  memory 12 B  0:08 left"},
		{40, "epoch 2/4  40%  loss 0.2500  accuracy 0"},
		{2, "e"},
		{1, ""},
	} {
		var out bytes.Buffer
		d := newDisplay(&out)
		d.memory = func() int64 { return 12 }
		d.start = d.start.Add(-5 * time.Second)
		d.columns = func() int { return c.columns }
		d.redraw(epochs(2, 4, 0.4, 0.6, 40), m)
		if got, want := out.String(), "\r"+c.want+"\x1b[K"; got != want {
			t.Errorf("in %d columns the live line is\n%q, want\n%q", c.columns, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0:00"}, {1600 * time.Millisecond, "0:02"}, {65 * time.Second, "1:05"}, {2*time.Hour + 3*time.Minute + 4*time.Second, "2:03:04"},
	} {
		if got := clock(c.d); got != c.want {
			t.Errorf("clock(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}
