package models

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/models/internal/settings"
)

// A config is a config.json, or an object in it, or the metadata of a GGUF file.
type config struct {
	path    string
	dir     string // the folder of config.json, or the GGUF file
	kind    string // model_type
	raw     map[string]json.RawMessage
	weights weights // the tensors of the model
	// tensors is their number. Each layer has one at least, so that it bounds the layers that
	// config.json asks for.
	tensors int
}

// weights is a file of tensors.
type weights interface {
	Names() []string
	Load(tree any, rename func(name string) string) error
	Close() error
}

// readConfig reads the config.json of a folder, or opens a GGUF file, which the caller closes.
func readConfig(dir string) (config, error) {
	if llamacpp.IsGGUF(dir) {
		m, err := llamacpp.Open(dir)
		if err != nil {
			return config{}, fmt.Errorf("models: %w", err)
		}
		m.OneType()
		return config{path: dir, dir: dir, kind: m.Kind, raw: m.Settings, weights: m}, nil
	}
	c := config{path: filepath.Join(dir, "config.json"), dir: filepath.Clean(dir)}
	if err := readJSON(c.path, &c.raw); err != nil {
		return c, err
	}
	if files.JSON(c.raw["model_type"], &c.kind) != nil {
		return c, c.errorf("there is no model_type")
	}
	return c, nil
}

// close closes the file of tensors, if it is open.
func (c config) close() {
	if c.weights != nil {
		c.weights.Close()
	}
}

// maxJSON is the most bytes of a file of settings. Those with the labels of a large
// classification have 1 MB.
const maxJSON = 16 << 20

// readJSON reads a file of settings.
func readJSON(path string, into any) error {
	if err := files.ReadJSON(path, maxJSON, into); err != nil {
		return fmt.Errorf("models: %s: %w", files.Name(path), err)
	}
	return nil
}

func (c config) errorf(format string, args ...any) error {
	return fmt.Errorf("models: %s: %w", files.Name(c.path), fmt.Errorf(format, args...))
}

// read fills a struct: see [settings.Read].
func (c config) read(into any) error {
	if err := settings.Read(into, c.raw, c.kind, c.tensors); err != nil {
		return c.errorf("%w", err)
	}
	return nil
}

// part returns the object of a setting, an empty one if it is missing.
func (c config) part(name string) (config, error) {
	p := config{path: c.path + ": " + name, dir: c.dir, kind: c.kind, weights: c.weights, tensors: c.tensors}
	if raw, ok := c.raw[name]; ok {
		if err := files.JSON(raw, &p.raw); err != nil {
			return p, p.errorf("%w", err)
		}
	}
	return p, nil
}

// architecture reports whether the model was saved with a head, as ForTokenClassification.
func (c config) architecture(head string) bool {
	var names []string
	return files.JSON(c.raw["architectures"], &names) == nil && slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, head) })
}
