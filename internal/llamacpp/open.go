package llamacpp

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// A Model is a GGUF file with the names of Hugging Face.
type Model struct {
	Kind     string                     // model_type
	Settings map[string]json.RawMessage // of config.json

	file    *gguf.File
	path    string
	tensors treefile.Tensors[view]
}

// A view is a tensor, or an element of a stack.
type view struct {
	file  *gguf.File
	info  gguf.Info
	index int // in the stack, -1: none
	how   string
	heads heads
	cast  tensor.DType // of the elements, 0: as in the file
}

// Open opens a GGUF file.
func Open(path string) (*Model, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	m := &Model{file: f, path: path, tensors: treefile.Tensors[view]{}}
	if err := m.read(); err != nil {
		f.Close()
		return nil, m.fail(err)
	}
	return m, nil
}

func (m *Model) fail(err error) error {
	text := strings.TrimPrefix(err.Error(), "gguf: ")
	return fmt.Errorf("gguf: %s: %s", files.Name(m.path), files.Name(text))
}

// Meta returns the metadata.
func (m *Model) Meta() gguf.Meta { return m.file.Meta }

// Tensors describes the tensors of the file.
func (m *Model) Tensors() []gguf.Info { return m.file.Tensors() }

// Names returns the names of tensors, sorted.
func (m *Model) Names() []string { return m.tensors.Names() }

// Load fills a tree as safetensors.File.Load does.
func (m *Model) Load(tree any, rename func(name string) string) error {
	if err := m.tensors.Load(tree, rename); err != nil {
		return m.fail(err)
	}
	return nil
}

// OneType makes Load cast tensors to the type of most numbers of the file: files have vectors in float32
// beside matrices in 16 bits, and a model computes in one type.
func (m *Model) OneType() {
	count, most := map[tensor.DType]int{}, tensor.Float32
	for _, info := range m.file.Tensors() {
		d := info.DType()
		if count[d] += graph.Len(info.Shape); d.IsFloat() && count[d] > count[most] {
			most = d
		}
	}
	for name, v := range m.tensors {
		if d := v.info.DType(); d.IsFloat() && d != most {
			v.cast = most
			m.tensors[name] = v
		}
	}
}

// Close closes the file.
func (m *Model) Close() error { return m.file.Close() }

// Type returns the type and its name.
func (v view) Type() (tensor.DType, string) {
	return cmp.Or(v.cast, v.info.DType()), v.info.Type.String()
}

// Shape returns the lengths of the axes.
func (v view) Shape() []int {
	shape := v.info.Shape
	if v.index >= 0 {
		shape = shape[1:]
	}
	if v.how == "transposed" && len(shape) == 2 {
		return []int{shape[1], shape[0]}
	}
	return shape
}

// Read reads the elements.
func (v view) Read() (x tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	if v.index >= 0 {
		x, err = v.file.At(v.info.Name, v.index)
	} else {
		x, err = v.file.Tensor(v.info.Name)
	}
	if op, ok := operations[v.how]; ok && err == nil {
		x = op.load(x, v.heads)
	}
	if v.cast != 0 && err == nil {
		x = x.Cast(v.cast)
	}
	return x, err
}

// architectureOf returns the architecture of a name.
func architectureOf(name string) (*architecture, error) {
	var names []string
	for i := range architectures {
		if architectures[i].name == name {
			return &architectures[i], nil
		}
		names = append(names, architectures[i].name)
	}
	return nil, fmt.Errorf("general.architecture is %q: want one of %s", name, strings.Join(names, ", "))
}

// read fills a model from its file.
func (m *Model) read() error {
	name, err := gguf.Get[string](m.file.Meta, "general.architecture")
	if err != nil {
		return err
	}
	a, err := architectureOf(name)
	if err != nil {
		return err
	}
	s, err := a.readSettings(m.file.Meta)
	if err != nil {
		return err
	}
	h, err := a.heads(s)
	if err != nil {
		return err
	}
	gated := false
	for _, info := range m.file.Tensors() {
		gated = gated || strings.HasSuffix(info.Name, "blk.0.ffn_gate.weight")
	}
	lines := a.lines()
	for _, info := range m.file.Tensors() {
		if err := m.add(a, lines, info, h, gated); err != nil {
			return err
		}
	}
	if err := m.finish(a, s, gated); err != nil {
		return err
	}
	m.Settings = map[string]json.RawMessage{}
	for k, v := range s {
		if m.Settings[k], err = json.Marshal(v); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

// heads returns the numbers of heads by settings.
func (a *architecture) heads(s map[string]any) (h heads, err error) {
	var ok bool
	for _, name := range []string{"num_attention_heads", "n_head", "num_heads"} {
		if n, found := s[name].(uint32); found && n > 0 {
			h.queries, ok = int(n), true
		}
	}
	if !ok {
		return h, fmt.Errorf("%s is no number above 0", a.keyed("attention.head_count"))
	}
	h.keys = h.queries
	if n, found := s["num_key_value_heads"].(uint32); found && n > 0 {
		h.keys = int(n)
	}
	return h, nil
}

// maxExperts is the most matrices of a stack: an empty tensor may claim any number.
const maxExperts = 1 << 14

// add adds the views of a tensor.
func (m *Model) add(a *architecture, lines []line, info gguf.Info, h heads, gated bool) error {
	if info.Name == ropeFactors || slices.Contains(slices.Collect(maps.Values(longFactors)), info.Name) {
		return nil
	}
	for _, end := range strings.Fields(a.skip) {
		if strings.HasSuffix(info.Name, end) {
			return nil
		}
	}
	parts, end := cutEnd(info.Name)
	for _, l := range lines {
		if l.how == "gated" && !gated || l.how == "ungated" && gated {
			continue
		}
		numbers, ok := match(l.gguf, parts)
		if !ok || end == "" {
			continue
		}
		if err := h.check(info.Name, l.how, info.Shape); err != nil {
			return err
		}
		v := view{file: m.file, info: info, index: -1, how: l.how, heads: h}
		if !l.stacked() {
			m.tensors[fill(l.hf, numbers, end)] = v
			return nil
		}
		if len(info.Shape) != 3 || info.Shape[0] > maxExperts {
			return fmt.Errorf("%q is of shape %v: want a stack of at most %d matrices", info.Name, info.Shape, maxExperts)
		}
		for i := range info.Shape[0] {
			v.index = i
			m.tensors[fill(l.hf, append(slices.Clone(numbers), i), end)] = v
		}
		return nil
	}
	return fmt.Errorf("the tensor %q is not known for models of architecture %s", info.Name, strconv.Quote(a.name))
}

// SaveConfig writes config.json.
func (m *Model) SaveConfig(path string) error {
	text, err := json.MarshalIndent(m.Settings, "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(path, func(w *bufio.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
