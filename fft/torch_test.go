package fft_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// An array is a tensor of the file; complex numbers have their parts along the first axis.
type array struct {
	Shape []int
	Data  []float64
}

func (a array) tensor() tensor.Tensor { return tensor.New(a.Data, a.Shape...) }

// reference is testdata/torch.json, written by generate.py.
type reference struct {
	Windows []struct {
		Name     string
		N        int
		Periodic bool
		Window   array
	}
	X     array
	Cases []struct {
		Args struct {
			Size       int `json:"n_fft"`
			Hop        int `json:"hop_length"`
			Length     int `json:"win_length"`
			Center     *bool
			OneSided   *bool
			Normalized bool
			PadMode    string `json:"pad_mode"`
		}
		STFT, Grad, ISTFT array
	}
}

func TestTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	windows := map[string]func(int, fft.Symmetry) tensor.Tensor{
		"hann": fft.Hann, "hamming": fft.Hamming, "blackman": fft.Blackman, "bartlett": fft.Bartlett,
		"kaiser": func(n int, s fft.Symmetry) tensor.Tensor { return fft.Kaiser(n, 8.5, s) },
	}
	for _, w := range r.Windows {
		got := tensor.OnesOf(tensor.Float64, w.N).Mul(windows[w.Name](w.N, fft.Symmetry(!w.Periodic)))
		checkClose(t, fmt.Sprintf("%s window of %d, periodic: %v", w.Name, w.N, w.Periodic), got, w.Window)
	}
	modes := map[string]tensor.PadMode{"circular": tensor.Circular, "replicate": tensor.Replicate}
	for i, c := range r.Cases {
		a := c.Args
		if a.Length == 0 {
			a.Length = a.Size
		}
		o := &fft.STFTOptions{
			Hop: a.Hop, Window: fft.Hamming(a.Length, fft.Periodic), NoCenter: a.Center != nil, TwoSided: a.OneSided != nil,
			Normalized: a.Normalized, PadMode: modes[a.PadMode], Length: 23,
		}
		x := r.X.tensor()
		z := fft.STFT(x, a.Size, o)
		checkClose(t, fmt.Sprint("STFT of case ", i), tensor.Stack(0, z.Re, z.Im), c.STFT)
		g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return fft.Spectrogram(x, a.Size, o).Log1p().Sum() })(x)
		checkClose(t, fmt.Sprint("the gradient of case ", i), g, c.Grad)
		turned := z.Mul(fft.Complex{Re: tensor.Scalar(1), Im: tensor.Scalar(0.5)})
		checkClose(t, fmt.Sprint("ISTFT of case ", i), fft.ISTFT(turned, a.Size, o), c.ISTFT)
	}
}

func checkClose(t *testing.T, what string, got tensor.Tensor, want array) {
	t.Helper()
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape)
		return
	}
	ok, err := tensor.AllClose(got, want.tensor(), 1e-10, 1e-11)
	if err != nil || !ok {
		t.Errorf("%s: %v, want %v (%v)", what, got, want.tensor(), err)
	}
}
