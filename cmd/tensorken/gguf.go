package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/terminal"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

func ggufCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "gguf",
		Short: "Language models in llama.cpp's files: describe, check, quantise, convert",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(ggufInfoCommand(), ggufVerifyCommand(), ggufQuantiseCommand(), ggufImatrixCommand(), ggufConvertCommand())
	return c
}

// A modelFile has the tensors of a file or folder, to be written as a GGUF file.
type modelFile struct {
	meta    gguf.Meta
	sources []gguf.Source
	close   func() error
	lacking error // why llama.cpp reads no texts with it
}

// openModel opens a GGUF file, a safetensors file, whose names of tensors it keeps, or a folder in
// Hugging Face's layout, which becomes as llama.cpp has it.
func openModel(path string) (m modelFile, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return m, fmt.Errorf("%s: %w", path, files.Reason(err))
	case info.IsDir():
		f, err := llamacpp.OpenFolder(path)
		if err != nil {
			return m, err
		}
		m = modelFile{f.Meta, f.Sources, f.Close, nil}
		if m.meta, m.lacking, err = vocabulary.Pack(f.Meta, path, f.Tokens()); err != nil {
			f.Close()
			return m, fmt.Errorf("%s: %w", path, err)
		}
		return m, nil
	case isSafetensors(path):
		return openSafetensors(path)
	}
	f, err := gguf.Open(path)
	if err != nil {
		return m, err
	}
	m = modelFile{meta: f.Meta, close: f.Close}
	for _, t := range f.Tensors() {
		m.sources = append(m.sources, gguf.Source{Name: t.Name, Type: t.Type, Shape: t.Shape,
			Raw:    func() ([]byte, error) { return f.Raw(t.Name) },
			Tensor: func() (tensor.Tensor, error) { return f.Tensor(t.Name) },
		})
	}
	return m, nil
}

func isSafetensors(path string) bool {
	return strings.HasSuffix(path, ".safetensors") || strings.HasSuffix(path, ".safetensors.index.json")
}

func openSafetensors(path string) (m modelFile, err error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return m, err
	}
	m = modelFile{close: f.Close, meta: gguf.Meta{{Key: "general.architecture", Value: "none"}}}
	for _, name := range f.Names() {
		d, shape, err := f.Describe(name)
		var typ gguf.Type
		if err == nil {
			typ, err = gguf.TypeOf(d)
		}
		if err != nil {
			f.Close()
			return m, fmt.Errorf("%s: %q: %w", path, name, err)
		}
		m.sources = append(m.sources, gguf.Source{Name: name, Type: typ, Shape: shape,
			Tensor: func() (tensor.Tensor, error) { return f.Tensor(name) }})
	}
	return m, nil
}

// retype gives a source another type, in which its tensor is encoded.
func retype(s *gguf.Source, typ gguf.Type) {
	if s.Type != typ {
		s.Type, s.Raw = typ, nil
	}
	if s.Raw != nil {
		s.Tensor = nil
	}
}

// write writes the model, and shows the tensor that it is at.
func (m modelFile) write(ctx context.Context, path string, notes io.Writer) error {
	if m.lacking != nil {
		fmt.Fprintf(notes, "llama.cpp reads tokens and no texts with %s: %v\n", path, m.lacking)
	}
	show := newProgress(ctx, notes, len(m.sources))
	defer show.done()
	for i := range m.sources {
		s := &m.sources[i]
		raw, values := s.Raw, s.Tensor
		if raw != nil {
			s.Raw = func() ([]byte, error) { return step(show, s.Name, raw) }
			continue
		}
		s.Tensor = func() (tensor.Tensor, error) { return step(show, s.Name, values) }
	}
	return gguf.Write(path, m.meta, m.sources)
}

// A progress shows in one line of a terminal how far a command is.
type progress struct {
	ctx   context.Context
	w     io.Writer // nil: no terminal
	n, of int
}

func newProgress(ctx context.Context, notes io.Writer, of int) *progress {
	p := &progress{ctx: ctx, of: of}
	if o, ok := notes.(*output); ok && terminal.Is(o.w) {
		p.w = o.w
	}
	return p
}

// step shows the name of a tensor and does something with it, unless the command is interrupted.
func step[T any](p *progress, name string, do func() (T, error)) (result T, err error) {
	if p.ctx.Err() != nil {
		return result, errors.New("interrupted")
	}
	if p.n++; p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%d/%d %.40s", p.n, p.of, terminal.Escape(name, ""))
	}
	return do()
}

func (p *progress) done() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func ggufConvertCommand() *cobra.Command {
	var typ string
	c := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Convert between GGUF, safetensors and folders in Hugging Face's layout",
		Long: `Convert IN, a .gguf file, a .safetensors file or a folder with config.json, to OUT.

  OUT.gguf         a folder gets llama.cpp's names and metadata, a file keeps its names
  OUT.safetensors  the names of a GGUF file, blocks decoded to --type, f32 if it is not given
  OUT              of a GGUF file: a folder with config.json, model.safetensors and tokenizer.json

--type is the new type: in a GGUF file of all matrices, elsewhere of all floating-point tensors.
To quantise by llama.cpp's mixes of types, see tensorken gguf quantise.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			return convertModel(c.Context(), args[0], args[1], typ, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&typ, "type", "", "f32, f16, bf16 or, in a GGUF file, any of its types")
	return c
}

func convertModel(ctx context.Context, in, out, typ string, notes io.Writer) error {
	var to *gguf.Type
	if typ != "" {
		t, err := gguf.ParseType(typ)
		if err != nil {
			return fmt.Errorf("--type: %w", err)
		}
		to = &t
	}
	if strings.HasSuffix(out, ".gguf") {
		m, err := openModel(in)
		if err != nil {
			return err
		}
		defer m.close()
		for i := range m.sources {
			s := &m.sources[i]
			if to != nil && isFloat(s.Type) && (len(s.Shape) > 1 || *to == gguf.F32) {
				retype(s, *to)
			} else {
				retype(s, s.Type)
			}
		}
		return m.write(ctx, out, notes)
	}
	if to != nil && (to.Quantised() || !isFloat(*to)) {
		return fmt.Errorf("--type: there are no tensors of type %v in safetensors files: want f32, f16, bf16 or f64", *to)
	}
	if strings.HasSuffix(out, ".safetensors") {
		return decodeModel(ctx, in, out, to, notes)
	}
	return unpackModel(in, out, to)
}

// isFloat reports whether elements are floating-point numbers.
func isFloat(t gguf.Type) bool {
	return t.Quantised() || t == gguf.F32 || t == gguf.F16 || t == gguf.BF16 || t == gguf.F64
}

// decodeModel writes the tensors of a file under their names.
func decodeModel(ctx context.Context, in, out string, to *gguf.Type, notes io.Writer) error {
	m, err := openModel(in)
	if err != nil {
		return err
	}
	defer m.close()
	show := newProgress(ctx, notes, len(m.sources))
	defer show.done()
	tree := map[string]tensor.Tensor{}
	for _, s := range m.sources {
		x, err := step(show, s.Name, s.Tensor)
		if err != nil {
			return err
		}
		tree[s.Name] = cast(x, to)
	}
	return safetensors.Save(out, tree)
}

// cast converts floating-point elements, if a type is given.
func cast(x tensor.Tensor, to *gguf.Type) tensor.Tensor {
	if to == nil || !x.DType().IsFloat() {
		return x
	}
	return x.Cast(gguf.Info{Type: *to}.DType())
}

// unpackModel writes a GGUF file as a folder in Hugging Face's layout.
func unpackModel(in, out string, to *gguf.Type) error {
	m, err := llamacpp.Open(in)
	if err != nil {
		return err
	}
	defer m.Close()
	if to == nil {
		m.OneType()
	}
	tree := map[string]tensor.Tensor{}
	if err := m.Load(&tree, nil); err != nil {
		return err
	}
	for name, x := range tree {
		tree[name] = cast(x, to)
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	if err := safetensors.Save(filepath.Join(out, "model.safetensors"), tree); err != nil {
		return err
	}
	if err := m.SaveConfig(filepath.Join(out, "config.json")); err != nil {
		return err
	}
	return vocabulary.Unpack(m.Meta(), out)
}

func ggufQuantiseCommand() *cobra.Command {
	var o quantiseOptions
	c := &cobra.Command{
		Use:     "quantise IN OUT.gguf",
		Aliases: []string{"quantize"},
		Short:   "Store a model in fewer bits, by llama.cpp's mixes of types",
		Long: `Quantise IN, a .gguf or .safetensors file or a folder with config.json, to OUT.gguf.

--type is a mix of llama.cpp, such as q4_k_m, q8_0, q5_k_s, iq4_xs or tq2_0: matrices whose
errors cost more get more bits. Vectors, norms and small matrices stay as they are. --pure
gives all matrices one type. --imatrix names a file of llama.cpp's imatrix, whose weights make
errors smaller where they matter: types of three bits and less need it to be of use.
--imatrix-text measures them on a text, as tensorken gguf imatrix does.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			return o.run(c.Context(), args[0], args[1], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&o.typ, "type", "q4_k_m", "the mix of types")
	c.Flags().StringVar(&o.importance, "imatrix", "", "a file of weights of columns, GGUF or .dat")
	c.Flags().StringVar(&o.text, "imatrix-text", "", "a text on which weights of columns are measured")
	c.Flags().BoolVar(&o.pure, "pure", false, "one type for all matrices")
	return c
}

// quantiseOptions are the flags of quantise.
type quantiseOptions struct {
	typ, importance, text string
	pure                  bool
}

// weights returns the weights of columns, nil without any.
func (o quantiseOptions) weights(ctx context.Context, in string, notes io.Writer) (weights map[string][]float32, err error) {
	switch {
	case o.importance != "" && o.text != "":
		return nil, errors.New("--imatrix and --imatrix-text both give weights: leave one out")
	case o.importance != "":
		if weights, err = llamacpp.ReadImportance(o.importance); err != nil {
			return nil, fmt.Errorf("--imatrix: %w", err)
		}
	case o.text != "":
		m, _, err := measure(ctx, in, o.text, notes)
		if err != nil {
			return nil, fmt.Errorf("--imatrix-text: %w", err)
		}
		return m.Weights()
	}
	return weights, nil
}

func (o quantiseOptions) run(ctx context.Context, in, out string, stdout, notes io.Writer) error {
	mix, err := llamacpp.ParseMix(o.typ)
	if err != nil {
		return fmt.Errorf("--type: %w", err)
	}
	if !strings.HasSuffix(out, ".gguf") {
		return fmt.Errorf("%s: the name of the result should end in .gguf", out)
	}
	weights, err := o.weights(ctx, in, notes)
	if err != nil {
		return err
	}
	m, err := openModel(in)
	if err != nil {
		return err
	}
	defer m.close()
	types := mix.Choose(m.meta, m.sources, weights != nil)
	if o.pure {
		types = mix.Pure(m.sources)
	}
	if len(types) == 0 {
		return errors.New("the model has no matrix that can be quantised: their names should end in .weight")
	}
	used, before, after := 0, 0, 0
	for i := range m.sources {
		s := &m.sources[i]
		was := s.Type
		to, ok := types[s.Name]
		if !ok || !isFloat(was) {
			to = was
		}
		if w := weights[s.Name]; w != nil && to.Quantised() {
			s.Importance = w
			used++
		}
		retype(s, to)
		before, after = before+gguf.Info{Type: was, Shape: s.Shape}.Size(), after+gguf.Info{Type: to, Shape: s.Shape}.Size()
	}
	if weights != nil && used == 0 {
		return fmt.Errorf("--imatrix: none of the tensors in %s is in the model: want llama.cpp's names", cmp.Or(o.importance, o.text))
	}
	m.meta = m.meta.With("general.quantization_version", uint32(2)).With("general.file_type", mix.File)
	if err := m.write(ctx, out, notes); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s, %s before\n", out, sizeOf(after), sizeOf(before))
	return nil
}
