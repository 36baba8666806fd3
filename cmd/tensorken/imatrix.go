package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
)

// chunkTokens is the length of the parts in which a text is read, as llama.cpp's imatrix reads it.
const chunkTokens = 512

// maxText is the most bytes of a text.
const maxText = 256 << 20

func ggufImatrixCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "imatrix MODEL TEXT OUT.gguf",
		Short: "Measure on a text which columns of a model's matrices matter, for quantise --imatrix",
		Long: `Read a text by MODEL, a .gguf file or a folder with config.json, in parts of 512 tokens, and
write the mean squares of the inputs of its matrices to OUT.gguf, as llama.cpp's imatrix does.
TEXT should be like the texts that the model will read, of 50,000 tokens or more.`,
		Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			m, chunk, err := measure(c.Context(), args[0], args[1], c.ErrOrStderr())
			if err != nil {
				return err
			}
			return m.Save(args[2], filepath.Base(args[1]), chunk)
		},
	}
}

// measure reads a text by a model.
func measure(ctx context.Context, path, text string, notes io.Writer) (m *llamacpp.Importance, chunk int, err error) {
	ids, first, err := tokensOf(path, text)
	if err != nil {
		return nil, 0, err
	}
	about, err := llm.Estimate(path, nil)
	if err != nil {
		return nil, 0, err
	}
	if chunk = chunkTokens; about.Context > 0 {
		chunk = min(chunk, about.Context)
	}
	chunk = min(chunk, len(ids)+len(first))
	if chunk <= len(first)+1 {
		return nil, 0, fmt.Errorf("%s has %d tokens: want a longer text", text, len(ids))
	}
	model, err := models.Load(path)
	if err != nil {
		return nil, 0, err
	}
	m = llamacpp.NewImportance(model)
	parts := slices.Collect(slices.Chunk(ids, chunk-len(first)))
	if last := len(parts) - 1; len(parts[last]) < chunk-len(first) {
		parts = parts[:last]
	}
	show := newProgress(ctx, notes, len(parts))
	defer show.done()
	for i, part := range parts {
		x := tensor.New(slices.Concat(first, part), 1, chunk)
		_, err := step(show, fmt.Sprintf("part %d of %s", i+1, filepath.Base(text)), func() (any, error) {
			var y tensor.Tensor
			switch model := model.(type) {
			case interface {
				Apply(ids tensor.Tensor) tensor.Tensor
			}:
				y = model.Apply(x)
			case *models.BERT:
				y = model.Apply(x, tensor.Tensor{})
			case *models.T5:
				y = model.Apply(x, tensor.Tensor{}, x)
			default:
				return nil, fmt.Errorf("%s: a %T reads no text", path, model)
			}
			return nil, m.Add(y)
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return m, chunk, nil
}

// tokensOf returns the tokens of a file, and the tokens that begin a text.
func tokensOf(path, text string) (ids, first []int32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, files.Reason(err))
	}
	var t *tokenizer.Tokenizer
	if info.IsDir() {
		t, err = tokenizer.Open(path)
	} else {
		var f *gguf.File
		if f, err = gguf.Open(path); err == nil {
			defer f.Close()
			t, err = vocabulary.Read(f.Meta)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the text cannot be read by the model: %w", err)
	}
	data, err := files.ReadAll(text, maxText)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", text, files.Reason(err))
	}
	o := &tokenizer.EncodeOptions{NoSpecial: true, IDsOnly: true, NoTruncation: true, NoPadding: true}
	e, err := t.Encode(string(data), o)
	plain, errPlain := t.Encode("a", o)
	o.NoSpecial = false
	whole, errWhole := t.Encode("a", o)
	if err := errors.Join(err, errPlain, errWhole); err != nil {
		return nil, nil, err
	}
	if len(whole.IDs) > len(plain.IDs) && !slices.Equal(whole.IDs[:len(plain.IDs)], plain.IDs) {
		first = whole.IDs[:1]
	}
	if len(e.IDs) == 0 {
		return nil, nil, fmt.Errorf("%s: there is no text", text)
	}
	return e.IDs, first, nil
}
