package models

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// loaders has the function that loads each kind of model, by model_type.
var loaders = func() map[string]func(c config) (any, error) {
	all := map[string]func(c config) (any, error){}
	register(all, loadGPT2, gpt2Kinds)
	register(all, loadLlama, llamaKinds)
	register(all, loadBERT, bertKinds)
	register(all, loadViT, vitKinds)
	register(all, loadResNet, resNetKinds)
	register(all, loadWhisper, whisperKinds)
	register(all, loadCLIP, clipKinds)
	register(all, loadCLIPText, clipTextKinds)
	register(all, loadCLIPVision, clipVisionKinds)
	register(all, loadT5, t5Kinds)
	return all
}()

func register[M any](all map[string]func(c config) (any, error), load func(c config) (M, error), kinds []string) {
	for _, k := range kinds {
		all[k] = func(c config) (any, error) { return load(c) }
	}
}

// Load reads the model in a folder, of the kind that its config.json names: a *[GPT2], *[Llama],
// *[BERT], *[ViT], *[CLIP], *[CLIPText], *[CLIPVision], *[ResNet], *[Whisper] or *[T5]. A path that
// ends in .gguf is a file of llama.cpp: a *GPT2, *Llama, *BERT or *T5. Its quantised tensors are float32
// in programs and stay quantised in memory, on the CPU.
func Load(dir string) (any, error) {
	return loadKind(dir, slices.Sorted(maps.Keys(loaders)), func(c config) (any, error) { return loaders[c.kind](c) })
}

// loadKind loads a model of one of some kinds.
func loadKind[M any](dir string, kinds []string, load func(c config) (M, error)) (m M, err error) {
	c, err := readConfig(dir)
	if err != nil {
		return m, err
	}
	defer func() { c.close() }() // of weights that are opened below, too
	if !slices.Contains(kinds, c.kind) {
		return m, c.errorf("model_type is %q: want one of %s", c.kind, strings.Join(kinds, ", "))
	}
	if c.weights == nil {
		w, err := openWeights(c.dir)
		if err != nil {
			return m, err
		}
		c.weights = w
	}
	c.tensors = len(c.weights.Names())
	return load(c)
}

// A layout says how the tensors of a file are named.
type layout struct {
	base string // the field of the model without its heads, which files of it alone leave out
	head string // the name of a tensor that other files have
	// skip lists ends of the names of tensors that are not loaded, and rename, if not nil,
	// changes a name.
	skip   []string
	rename func(name string) string
	// biased reports whether the layer of a name has a bias.
	biased func(layer string) bool
}

// buffers ends the names of tensors that models compute.
var buffers = []string{"position_ids", "token_type_ids", "rotary_emb.inv_freq", "num_batches_tracked"}

// load fills a model from the file of its tensors.
func (l layout) load(c config, model any) error {
	dir, names, rename := c.dir, c.weights.Names(), l.rename
	if rename == nil {
		rename = func(name string) string { return name }
	}
	base := ""
	if l.base != "" && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(rename(n), l.base+".") }) {
		base = l.base + "."
	} else if l.head != "" && !slices.Contains(names, l.head) {
		return fmt.Errorf("models: %s: the file lacks %q", files.Name(dir), l.head)
	}
	renamed := func(name string) string {
		name = rename(name)
		for _, end := range slices.Concat(buffers, l.skip) {
			if strings.HasSuffix(name, end) {
				return ""
			}
		}
		return base + name
	}
	if err := l.checkBiases(dir, names, renamed); err != nil {
		return err
	}
	return c.weights.Load(model, renamed)
}

// checkBiases returns an error if a file lacks a bias, or has one that the model does not add.
func (l layout) checkBiases(dir string, names []string, renamed func(string) string) error {
	have := map[string]bool{}
	for _, n := range names {
		have[renamed(n)] = true
	}
	for _, n := range slices.Sorted(maps.Keys(have)) {
		if layer, ok := strings.CutSuffix(n, ".weight"); ok && l.biased(layer) && !have[layer+".bias"] {
			return fmt.Errorf("models: %s: the file lacks %q", files.Name(dir), layer+".bias")
		}
		if layer, ok := strings.CutSuffix(n, ".bias"); ok && !l.biased(layer) && have[layer+".weight"] {
			return fmt.Errorf("models: %s: the file has %q, which by config.json the model does not", files.Name(dir), n)
		}
	}
	return nil
}

// openWeights opens the file of tensors in a folder, or its shards.
func openWeights(dir string) (weights, error) {
	const one = "model.safetensors"
	for _, name := range []string{one, one + ".index.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return safetensors.Open(filepath.Join(dir, name))
		}
	}
	return nil, fmt.Errorf("models: %s: there is neither "+one+" nor "+one+".index.json: convert other formats to safetensors", files.Name(dir))
}

// contains returns a function that reports whether a name contains one of some parts.
func contains(parts ...string) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// A size is the shape that a tensor has by config.json, in which no setting is negative; -1 is
// any length.
type size struct {
	name  string
	t     tensor.Tensor
	shape []int
}

// check returns an error unless the tensors are of the sizes.
func (c config) check(sizes ...size) error {
	for _, s := range sizes {
		if !s.t.IsValid() {
			return c.errorf("the file lacks %s", s.name)
		}
		have := s.t.Shape()
		same := func(a, b int) bool { return a == b || b < 0 }
		if !slices.EqualFunc(have, s.shape, same) {
			return c.errorf("by its settings %s is %v, and in the file %v", s.name, s.shape, have)
		}
	}
	return nil
}
