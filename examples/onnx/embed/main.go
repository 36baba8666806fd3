// Command embed finds the sentences of a file that mean most nearly the same as a query, by an encoder in
// ONNX with its tokenizer, such as all-MiniLM-L6-v2:
//
//	go run ./examples/onnx/embed -model model.onnx -tokenizer tokenizer.json -texts notes.txt -query "when is it due?"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
)

var (
	on     = flag.String("device", "", device.Usage)
	model  = flag.String("model", "", "the encoder, an .onnx file")
	tokens = flag.String("tokenizer", "tokenizer.json", "the file of its tokenizer")
	texts  = flag.String("texts", "", "a file with a text in each line")
	query  = flag.String("query", "", "the text to look for")
	top    = flag.Int("top", 5, "how many texts are printed")
	pool   = flag.String("pool", "mean", "how the vectors of tokens become one: mean or cls")
	length = flag.Int("length", 256, "texts are cut off after so many tokens")
	batch  = flag.Int("batch", 16, "how many texts run at the same time, if the model takes any number")
)

func main() { flags.Run(on, run, "model") }

// run prints the texts that are nearest to the query, with the cosines of the angles between their vectors.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	e, err := open()
	if err != nil {
		return err
	}
	lines, err := read(*texts)
	if err != nil {
		return err
	}
	vectors, err := e.embed(ctx, append(lines, *query))
	if err != nil {
		return err
	}
	n := len(lines)
	cosines := vectors.Slice(0, 0, n).MatMul(vectors.At(n))
	best, which := cosines.TopK(0, min(*top, n))
	for i := range best.Len() {
		fmt.Fprintf(w, "%.4f  %s\n", best.At(i).Item(), lines[int(which.At(i).Item())])
	}
	return nil
}

// read returns the lines of a file that are not empty.
func read(path string) (lines []string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return nil, fmt.Errorf("%s has no texts: want one in each line", path)
	}
	return lines, nil
}

// An encoder makes texts vectors.
type encoder struct {
	model         *onnx.Model
	tokens        *tokenizer.Tokenizer
	batch, length int  // texts of a call, and tokens of a text
	fixed         bool // the model takes this length alone
}

// inputs are the fields of an encoding by the names that encoders give their inputs.
var inputs = map[string]func(*tokenizer.Encoding) []int32{
	"input_ids":      func(e *tokenizer.Encoding) []int32 { return e.IDs },
	"attention_mask": func(e *tokenizer.Encoding) []int32 { return e.AttentionMask },
	"token_type_ids": func(e *tokenizer.Encoding) []int32 { return e.TypeIDs },
}

// open opens the model and its tokenizer.
func open() (*encoder, error) {
	e := &encoder{batch: *batch, length: *length}
	switch {
	case *query == "":
		return nil, errors.New("want a text to look for: -query TEXT")
	case *pool != "mean" && *pool != "cls":
		return nil, fmt.Errorf("-pool is %q, want mean or cls", *pool)
	case *top < 1 || *batch < 1 || *length < 1:
		return nil, errors.New("want -top, -batch and -length of at least 1")
	}
	var err error
	if e.model, err = onnx.Open(*model); err != nil {
		return nil, err
	}
	masked := false
	for _, in := range e.model.Inputs() {
		masked = masked || in.Name == "attention_mask"
		if inputs[in.Name] == nil || len(in.Dims) != 2 || in.Type != "int64" && in.Type != "int32" {
			return nil, fmt.Errorf("the model's inputs are %v: want input_ids, attention_mask and perhaps token_type_ids, integers [texts tokens]", e.model.Inputs())
		}
		if n := in.Dims[0].Len; n >= 0 {
			e.batch = n
		}
		if n := in.Dims[1].Len; n >= 0 {
			e.length, e.fixed = n, true
		}
	}
	if !masked {
		return nil, fmt.Errorf("the model's inputs are %v: without attention_mask the padding of short texts would count", e.model.Inputs())
	}
	e.tokens, err = tokenizer.Open(*tokens)
	return e, err
}

// embed returns a vector of length 1 for each text, [texts width].
func (e *encoder) embed(ctx context.Context, texts []string) (tensor.Tensor, error) {
	var parts []tensor.Tensor
	for i := 0; i < len(texts); i += e.batch {
		part := texts[i:min(i+e.batch, len(texts))]
		v, err := e.call(ctx, part)
		if err != nil {
			return v, err
		}
		parts = append(parts, v.Slice(0, 0, len(part)))
	}
	all := tensor.Cat(0, parts...)
	return all.Div(all.Norm(1)), nil
}

// call runs the model. Where it takes a fixed number of texts, the rest are empty.
func (e *encoder) call(ctx context.Context, texts []string) (v tensor.Tensor, err error) {
	pad := tokenizer.Padding{} // by token 0: the mask hides it
	if e.fixed {
		pad.Length = e.length
	}
	for e.fixedBatch() > len(texts) {
		texts = append(texts[:len(texts):len(texts)], "")
	}
	encodings, err := e.tokens.EncodeBatch(texts, &tokenizer.EncodeOptions{Truncation: &tokenizer.Truncation{MaxLength: e.length}, Padding: &pad})
	if err != nil {
		return v, err
	}
	call, mask := map[string]tensor.Tensor{}, rows(encodings, inputs["attention_mask"])
	for _, in := range e.model.Inputs() {
		call[in.Name] = rows(encodings, inputs[in.Name])
		if in.Type == "int64" {
			call[in.Name] = call[in.Name].Cast(tensor.Int64)
		}
	}
	out, err := e.model.Run(ctx, call)
	if err != nil {
		return v, err
	}
	v = out[e.model.Outputs()[0].Name].Cast(tensor.Float32)
	switch {
	case v.Rank() == 2: // the model pools
		return v, nil
	case v.Rank() != 3:
		return v, fmt.Errorf("the model's first result is %v: want vectors of tokens or texts", e.model.Outputs()[0])
	case *pool == "cls":
		return v.Slice(1, 0, 1).Squeeze(1), nil
	}
	weights := mask.Cast(tensor.Float32).Unsqueeze(2)
	return v.Mul(weights).Sum(1).Div(weights.Sum(1).Maximum(1)).Squeeze(1), nil
}

// fixedBatch returns the number of texts that the model takes, or 0 for any.
func (e *encoder) fixedBatch() int { return max(e.model.Inputs()[0].Dims[0].Len, 0) }

// rows returns a field of encodings, [texts tokens].
func rows(encodings []*tokenizer.Encoding, field func(*tokenizer.Encoding) []int32) tensor.Tensor {
	var list []tensor.Tensor
	for _, e := range encodings {
		list = append(list, tensor.New(field(e), e.Len()))
	}
	return tensor.Stack(0, list...)
}
