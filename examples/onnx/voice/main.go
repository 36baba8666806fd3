// Command voice finds speech in a WAV file by Silero's detector in ONNX:
//
//	go run ./examples/onnx/voice -model silero_vad.onnx -wav meeting.wav
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

var (
	on        = flag.String("device", "cpu", device.Usage+"; a step is small, and quickest on the CPU")
	model     = flag.String("model", "", "the detector, an .onnx file")
	file      = flag.String("wav", "", "the sound")
	rate      = flag.Int("rate", 16000, "samples a second that the model wants")
	chunk     = flag.Int("chunk", 512, "samples of a step")
	before    = flag.Int("context", 64, "samples before those of a step that the model wants to hear again; 0 for version 4 and before")
	threshold = flag.Float64("threshold", 0.5, "probability from which on it is speech")
	speech    = flag.Duration("speech", 250*time.Millisecond, "shorter speech does not count")
	silence   = flag.Duration("silence", 100*time.Millisecond, "shorter silence does not end speech")
)

func main() { flags.Run(on, run, "model", "wav") }

// run prints the times between which there is speech.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	if *chunk < 1 || *before < 0 || *rate < 1 {
		return errors.New("want -chunk and -rate of at least 1, and -context of at least 0")
	}
	m, err := onnx.Open(*model)
	if err != nil {
		return err
	}
	samples, have, err := wav.Load(*file)
	if err != nil {
		return err
	}
	if have != *rate {
		return fmt.Errorf("%s has %d samples a second, want %d: convert it, as by ffmpeg -i IN -ar %d OUT", *file, have, *rate, *rate)
	}
	mono, err := tensor.Data[float32](samples.Mean(0))
	if err != nil {
		return err
	}
	d, err := newDetector(m)
	if err != nil {
		return err
	}
	var p []float64
	for i := 0; i < len(mono); i += *chunk {
		x, err := d.step(ctx, window(mono, i))
		if err != nil {
			return err
		}
		p = append(p, x)
	}
	step := time.Second * time.Duration(*chunk) / time.Duration(*rate)
	length := time.Second * time.Duration(len(mono)) / time.Duration(*rate)
	total := time.Duration(0)
	for _, s := range segments(p, step, length) {
		fmt.Fprintf(w, "%8.2f s to %8.2f s\n", s[0].Seconds(), s[1].Seconds())
		total += s[1] - s[0]
	}
	_, err = fmt.Fprintf(w, "%.2f of %.2f s are speech\n", total.Seconds(), length.Seconds())
	return err
}

// window returns the samples of the step from i on, with those before it; there is silence beyond the ends.
func window(samples []float32, i int) []float32 {
	x := make([]float32, *before+*chunk)
	from := i - *before
	copy(x[max(-from, 0):], samples[max(from, 0):min(i+*chunk, len(samples))])
	return x
}

// A detector runs a model step by step.
type detector struct {
	model  *onnx.Model
	sound  string                   // the input of samples
	states map[string]string        // results that are inputs of the next step
	inputs map[string]tensor.Tensor // of the next step
}

// stateNames are results of the versions of the model and the inputs that they become.
var stateNames = map[string]string{"stateN": "state", "hn": "h", "cn": "c"}

func newDetector(m *onnx.Model) (*detector, error) {
	zeros, err := m.Zeros(nil) // a stream of its own is a batch of 1
	if err != nil {
		return nil, err
	}
	d := &detector{model: m, states: map[string]string{}, inputs: map[string]tensor.Tensor{}}
	for _, out := range m.Outputs()[1:] {
		if to, ok := stateNames[out.Name]; ok {
			d.states[out.Name], d.inputs[to] = to, zeros[to].Tensor
		}
	}
	for _, in := range m.Inputs() {
		_, isState := d.inputs[in.Name]
		switch {
		case in.Name == "sr":
			d.inputs[in.Name] = tensor.New([]int64{int64(*rate)}, 1).Reshape(zeros["sr"].Dims()...)
		case isState:
		case d.sound == "" && in.Type == "float" && len(in.Dims) == 2:
			d.sound = in.Name
		default:
			return nil, fmt.Errorf("the model's inputs are %v, its results %v: want samples [1 n], a state that is a result too, and sr", m.Inputs(), m.Outputs())
		}
	}
	if d.sound == "" || len(d.states) == 0 {
		return nil, fmt.Errorf("the model's inputs are %v, its results %v: want samples [1 n], and a state that is a result too", m.Inputs(), m.Outputs())
	}
	return d, nil
}

// step returns the probability of speech in the next samples.
func (d *detector) step(ctx context.Context, samples []float32) (float64, error) {
	d.inputs[d.sound] = tensor.New(samples, 1, len(samples))
	out, err := d.model.Run(ctx, d.inputs)
	if err != nil {
		return 0, err
	}
	for name, to := range d.states {
		d.inputs[to] = out[name]
	}
	p := out[d.model.Outputs()[0].Name]
	if p.Len() != 1 {
		return 0, fmt.Errorf("the model's first result is %v: want a probability", d.model.Outputs()[0])
	}
	return p.Item(), nil
}

// segments returns the times between which there is speech. It ends where the probability has been well
// below the threshold for long enough.
func segments(p []float64, step, length time.Duration) (list [][2]time.Duration) {
	const margin = 0.15 // as Silero has it, so that speech does not end in a pause within a word
	from, quiet := -1, -1
	end := func(at int) {
		s := [2]time.Duration{time.Duration(from) * step, min(time.Duration(at)*step, length)}
		if s[1]-s[0] >= *speech {
			list = append(list, s)
		}
		from, quiet = -1, -1
	}
	for i, x := range p {
		switch {
		case x >= *threshold:
			quiet = -1
			if from < 0 {
				from = i
			}
		case from >= 0 && x < *threshold-margin:
			if quiet < 0 {
				quiet = i
			}
			if time.Duration(i+1-quiet)*step >= *silence {
				end(quiet)
			}
		}
	}
	if from >= 0 && quiet >= 0 {
		end(quiet)
	} else if from >= 0 {
		end(len(p))
	}
	return list
}
