// Command transcribe writes the words of a WAV file by Whisper in ONNX, as Hugging Face's Optimum exports it without
// a cache:
//
//	go run ./examples/onnx/transcribe -encoder encoder_model.onnx -decoder decoder_model.onnx -wav talk.wav
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
	"github.com/tensorken/tensorken/wav"
)

var (
	on      = flag.String("device", "", device.Usage)
	encoder = flag.String("encoder", "encoder_model.onnx", "the encoder")
	decoder = flag.String("decoder", "decoder_model.onnx", "the decoder")
	words   = flag.String("tokenizer", "tokenizer.json", "the file of the tokenizer")
	file    = flag.String("wav", "", "the sound")
	prompt  = flag.String("prompt", "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>", "what the decoder begins with: <|fr|> for French, <|translate|> for English; without these two for a model of English alone")
	most    = flag.Int("tokens", 200, "the most tokens of 30 seconds")
)

// The sound that Whisper hears: pieces of 30 seconds, with a spectrum of 400 samples each 10 ms.
const (
	rate   = 16000
	piece  = 30 * rate
	window = 400
	hop    = rate / 100
	ending = "<|endoftext|>"
)

func main() { flags.Run(on, run, "wav") }

// run prints the words of each piece.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	m, err := open()
	if err != nil {
		return err
	}
	samples, have, err := wav.Load(*file)
	if err != nil {
		return err
	}
	if have != rate {
		return fmt.Errorf("%s has %d samples a second, want %d: convert it, as by ffmpeg -i IN -ar %d OUT", *file, have, rate, rate)
	}
	mono, err := tensor.Data[float32](samples.Mean(0))
	if err != nil {
		return err
	}
	for i := 0; i < len(mono); i += piece {
		x := make([]float32, piece) // silence follows the last
		copy(x, mono[i:])
		text, err := m.transcribe(ctx, tensor.New(x, piece))
		if err != nil {
			return err
		}
		if text != "" {
			fmt.Fprintf(w, "%5d s  %s\n", i/rate, text)
		}
	}
	return nil
}

// A model is a Whisper.
type model struct {
	encoder, decoder *onnx.Model
	tokens           *tokenizer.Tokenizer
	mels             int
	prompt           []int32
	end              int32 // of the text; the tokens after it are no text
}

func open() (m *model, err error) {
	m = &model{}
	if m.encoder, err = onnx.Open(*encoder); err != nil {
		return nil, err
	}
	if m.decoder, err = onnx.Open(*decoder); err != nil {
		return nil, err
	}
	if m.tokens, err = tokenizer.Open(*words); err != nil {
		return nil, err
	}
	in := m.encoder.Inputs()
	if len(in) != 1 || len(in[0].Dims) != 3 || in[0].Type != "float" {
		return nil, fmt.Errorf("the encoder's inputs are %v: want spectra, [1 80 3000]", in)
	}
	if m.mels = in[0].Dims[1].Len; m.mels < 0 {
		m.mels = 80
	}
	names := []string{}
	for _, in := range m.decoder.Inputs() {
		names = append(names, in.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"encoder_hidden_states", "input_ids"}) {
		return nil, fmt.Errorf("the decoder's inputs are %v: want input_ids and encoder_hidden_states, as of decoder_model.onnx", m.decoder.Inputs())
	}
	if *most < 1 {
		return nil, errors.New("want -tokens of at least 1")
	}
	end, ok := m.tokens.TokenToID(ending)
	if !ok {
		return nil, fmt.Errorf("%s has no token %s: it is of another model", *words, ending)
	}
	m.end = end
	e, err := m.tokens.Encode(*prompt, &tokenizer.EncodeOptions{NoSpecial: true})
	if err != nil {
		return nil, err
	}
	m.prompt = e.IDs
	for _, id := range m.prompt {
		if id <= end {
			return nil, fmt.Errorf("-prompt is %q, of which the tokenizer has not all: see its added_tokens", *prompt)
		}
	}
	return m, nil
}

// spectra returns the logarithms of a sound's spectra, [1 mels frames], as Whisper was trained on them: at most 8
// below the greatest, and about from -1 to 1.
func spectra(samples tensor.Tensor, mels int) tensor.Tensor {
	s := fft.MelSpectrogram(samples, window, mels, rate,
		&fft.STFTOptions{Hop: hop, Window: fft.Hann(window, fft.Periodic)},
		&fft.MelOptions{Scale: fft.Slaney, Normalized: true})
	s = s.Slice(1, 0, samples.Len()/hop).Maximum(1e-10).Log10() // the frame at the end is left out
	return s.Maximum(s.Max().Sub(8)).Add(4).Div(4).Unsqueeze(0)
}

// transcribe returns the words of a piece: the most probable token follows those before it.
func (m *model) transcribe(ctx context.Context, samples tensor.Tensor) (string, error) {
	out, err := m.encoder.Run(ctx, map[string]tensor.Tensor{m.encoder.Inputs()[0].Name: spectra(samples, m.mels)})
	if err != nil {
		return "", err
	}
	memory := out[m.encoder.Outputs()[0].Name]
	ids := slices.Clone(m.prompt)
	for len(ids) < len(m.prompt)+*most {
		id, err := m.next(ctx, memory, ids)
		if err != nil {
			return "", err
		}
		if id == m.end {
			break
		}
		ids = append(ids, id)
	}
	return strings.TrimSpace(m.tokens.Decode(ids[len(m.prompt):], false)), nil
}

// next returns the token after ids. The decoder gets a multiple of 32 tokens, so that it is compiled for few lengths:
// a token does not depend on those after it.
func (m *model) next(ctx context.Context, memory tensor.Tensor, ids []int32) (int32, error) {
	padded := slices.Clone(ids)
	for len(padded)%32 != 0 {
		padded = append(padded, m.end)
	}
	out, err := m.decoder.Run(ctx, map[string]tensor.Tensor{
		"input_ids":             tensor.New(padded, 1, len(padded)).Cast(tensor.Int64),
		"encoder_hidden_states": memory,
	})
	if err != nil {
		return 0, err
	}
	logits := out[m.decoder.Outputs()[0].Name]
	if logits.Rank() != 3 || logits.Dim(1) != len(padded) || logits.Dim(2) <= int(m.end) {
		return 0, fmt.Errorf("the decoder's first result is %v: want scores of tokens, [1 %d n]", m.decoder.Outputs()[0], len(padded))
	}
	return int32(logits.At(0, len(ids)-1).Slice(0, 0, int(m.end)+1).ArgMax(0).Item()), nil
}
