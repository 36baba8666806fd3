package models_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// An aheadDevice computes on the CPU and, if it is on, has snapshots as a GPU has. It fails as it is told.
type aheadDevice struct {
	driver.Device
	on        bool
	snapshots int
	fail      bool  // the next Run, which is found later
	failed    error // not yet returned by Sync
	least     int   // bytes of a buffer that has no memory, 0 for none
}

func (d *aheadDevice) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Async, l.Concurrent = true, false
	return l
}

func (d *aheadDevice) Snapshot(pieces ...driver.Piece) (wait func() ([]byte, error), err error) {
	if !d.on {
		return nil, nil
	}
	var all []byte
	for _, p := range pieces {
		data := make([]byte, p.Bytes)
		if err := d.Device.Download(data, p.Buffer, p.Offset); err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	d.snapshots++
	n := d.snapshots
	return func() ([]byte, error) {
		if n != d.snapshots {
			return nil, nil
		}
		return all, d.failed
	}, nil
}

func (d *aheadDevice) Alloc(bytes int) (driver.Buffer, error) {
	if d.least > 0 && bytes >= d.least {
		return nil, fmt.Errorf("%w: %d bytes", driver.ErrMemory, bytes)
	}
	return d.Device.Alloc(bytes)
}

func (d *aheadDevice) Run(calls []driver.Call) error {
	if d.fail {
		d.failed, d.fail = errors.New("a bad day"), false
		return nil
	}
	return d.Device.Run(calls)
}

func (d *aheadDevice) Download(dst []byte, src driver.Buffer, offset int) error {
	if d.failed != nil {
		return d.failed
	}
	return d.Device.Download(dst, src, offset)
}

func (d *aheadDevice) Sync() error {
	err := d.failed
	d.failed = nil
	return errors.Join(err, d.Device.Sync())
}

// onAhead calls f with devices whose reads wait for later work and, with ahead, do not.
func onAhead(t *testing.T, f func(t *testing.T, drv *aheadDevice, d *tensor.Device)) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint("ahead ", on), func(t *testing.T) {
			drv := &aheadDevice{Device: cpu.New(cpu.Options{Threads: 1}), on: on}
			d := tensor.NewDevice(drv)
			defer d.Close()
			f(t, drv, d)
		})
	}
}

// The reports of many texts have room.
func TestManyTexts(t *testing.T) {
	onAhead(t, func(t *testing.T, _ *aheadDevice, d *tensor.Device) {
		g := &models.Generator{Model: load[*models.Llama](t, "llama_gqa", d), MaxTokens: 1}
		want := generate(t, g, []int32{1, 2})
		for i := range 1500 {
			if got, err := g.Generate([][]int32{{1, 2}}); err != nil || !slices.Equal(got[0], want[0]) {
				t.Fatalf("text %d: %v, %v, want %v", i, got, err, want)
			}
		}
	})
}

// A failure of the device is the text's, not later work's.
func TestFailureOfText(t *testing.T) {
	onAhead(t, func(t *testing.T, drv *aheadDevice, d *tensor.Device) {
		g, n := &models.Generator{Model: load[*models.Llama](t, "llama_gqa", d), MaxTokens: 12}, 0
		var failure error
		for _, err := range g.All([][]int32{{1, 2}}) {
			if n++; n == 6 {
				drv.fail = true
			}
			failure = err
		}
		if failure == nil || !strings.Contains(failure.Error(), "a bad day") {
			t.Errorf("the text has error %v", failure)
		}
		if got, err := tensor.Data[float32](tensor.Ones(3).To(d).Add(1)); err != nil || got[0] != 2 {
			t.Errorf("later work: %v, %v", got, err)
		}
	})
}

// A text without memory for more positions has all the tokens before.
func TestTextWithoutMemory(t *testing.T) {
	onAhead(t, func(t *testing.T, drv *aheadDevice, d *tensor.Device) {
		m := load[*models.Llama](t, "llama_gqa", d)
		for _, g := range []*models.Generator{{}, {Draft: m}} {
			drv.least, g.Model, g.MaxTokens = 0, m, 40
			generate(t, g, []int32{1, 2})
			drv.least, g.MaxTokens = 4*m.NewCache(1, 128).K[0].Len(), 100
			got, err := g.Generate([][]int32{{1, 2}})
			least := 63 // tokens, of which the last is not in the cache of 64 positions
			if g.Draft != nil {
				least -= 3 // proposals
			}
			if !errors.Is(err, driver.ErrMemory) || len(got[0]) < least {
				t.Errorf("%d tokens, %v, want %d and an error of memory", len(got[0]), err, least)
			}
		}
	})
}

// An error about logits names the layer.
func TestOverflowAhead(t *testing.T) {
	onAhead(t, func(t *testing.T, _ *aheadDevice, d *tensor.Device) {
		m := tree.Map(*load[*models.GPT2](t, "gpt2_gen", d), func(name string, x tensor.Tensor) tensor.Tensor {
			if strings.Contains(name, "wpe") {
				return tensor.Where(tensor.Arange(x.Dim(0)).Eq(6).Unsqueeze(-1).To(d), float32(3e38), x).Keep()
			}
			return x
		})
		for _, temperature := range []float64{0, 1} {
			g := &models.Generator{Model: &m, MaxTokens: 8, RNG: tensor.NewRNG(1)}
			g.Temperature = temperature
			got, err := g.Generate([][]int32{{1, 2}})
			if err == nil || !strings.Contains(err.Error(), "the keys of layer 0") || len(got[0]) != 5 {
				t.Errorf("temperature %v: %v, %v, want 5 tokens and an error that names layer 0", temperature, got, err)
			}
		}
	})
}

// An oddModel makes another graph each time.
type oddModel struct {
	*models.Llama
	n *int
}

func (m oddModel) Decode(ids tensor.Tensor, c models.Cache) (tensor.Tensor, models.Cache) {
	*m.n++
	x, c := m.Llama.Decode(ids, c)
	for range *m.n % 3 {
		x = x.Mul(1)
	}
	return x.Add(float64(*m.n%3) * 1e-9), c
}

// Steps that are not recorded write the same texts.
func TestUnrecordedText(t *testing.T) {
	onAhead(t, func(t *testing.T, _ *aheadDevice, d *tensor.Device) {
		l := load[*models.Llama](t, "llama_gqa", d)
		m, want := oddModel{l, new(int)}, generate(t, &models.Generator{Model: l, MaxTokens: 12}, []int32{1, 2})
		for _, g := range []*models.Generator{{}, {NGram: 2}, {Draft: m}} {
			g.Model, g.MaxTokens = m, 12
			if got := generate(t, g, []int32{1, 2}); !slices.Equal(got[0], want[0]) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// A draft with too few positions is an error with both numbers.
func TestShortDraft(t *testing.T) {
	m, draft := load[*models.Llama](t, "llama_gqa", tensor.CPU()), load[*models.GPT2](t, "gpt2_gen", tensor.CPU())
	_, err := (&models.Generator{Model: m, Draft: draft, MaxTokens: 70}).Generate([][]int32{{1, 2}})
	if err == nil || !strings.Contains(err.Error(), "need 71 positions: the model has 64") {
		t.Errorf("error %v", err)
	}
}
