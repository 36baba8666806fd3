package train

import (
	"bytes"
	"testing"
	"time"
)

func TestLive(t *testing.T) {
	var out bytes.Buffer
	d := newDisplay(&out, 3, 100)
	d.live = true
	d.start = d.start.Add(-time.Second)
	d.shown = d.start
	d.progress(1, 60, 0.25)
	d.progress(1, 70, 0.25) // too soon
	d.epochDone(1, Metrics{"accuracy": 0.5, "loss": 1})
	d.shown = d.start
	d.progress(2, 50, 0.125)
	d.close()
	want := "\repoch 1/3 ████░░░░░░░░░░░░░░░░  20%  loss 0.2500  60 samples/s  0:04 left\x1b[K" +
		"\repoch 1/3 ██████░░░░░░░░░░░░░░  33%  loss 1.0000  accuracy 0.5000  100 samples/s  0:02 left\x1b[K" +
		"\repoch 2/3 ██████████░░░░░░░░░░  50%  loss 0.1250  accuracy 0.5000  150 samples/s  0:01 left\x1b[K\n"
	if got := out.String(); got != want {
		t.Errorf("live output is\n%q, want\n%q", got, want)
	}
}

// The live line is cut to the width of the terminal, its bar first.
func TestLiveFits(t *testing.T) {
	m := Metrics{"loss": 0.25, "accuracy": 0.5}
	for _, c := range []struct {
		columns int
		want    string
	}{
		{0, "epoch 2/4 ████████░░░░░░░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  0:08 left"},
		{90, "epoch 2/4 ████████░░░░░░░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  0:08 left"},
		{80, "epoch 2/4 ████░░░░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  0:08 left"},
		{75, "epoch 2/4 ██░░░  40%  loss 0.2500  accuracy 0.5000  8 samples/s  0:08 left"},
		{74, "epoch 2/4  40%  loss 0.2500  accuracy 0.5000  8 samples/s  0:08 left"},
		{40, "epoch 2/4  40%  loss 0.2500  accuracy 0"},
		{2, "e"},
		{1, ""},
	} {
		var out bytes.Buffer
		d := newDisplay(&out, 4, 25)
		d.start = d.start.Add(-5 * time.Second)
		d.columns = func() int { return c.columns }
		d.redraw(2, m, 40)
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
