package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// A Model is an ONNX model. Any number of goroutines may use it.
type Model struct {
	Name     string // of its graph
	Producer string // the program that wrote the file, and its version
	Opsets   map[string]int

	inputs, outputs []Info
	proto           *proto.Model
	main            *program
	bodies          map[*proto.Graph]*program
	needs           map[need]int
	lacks           error // operators that are missing

	mu     sync.Mutex
	apart  []bool // nodes between stages
	small  []seen // of the inputs
	stages map[[2]int]*stage
	runs   atomic.Uint64
	steps  atomic.Int64 // nodes that have been interpreted
	wide   atomic.Bool  // the default device lacks a type of the model
}

// Open reads a model, with its data in other files of its folder. It reports files that are not valid;
// a model with operators that this package lacks is opened, and [Model.Check] names them.
func Open(path string) (*Model, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", files.Name(path), files.Reason(err))
	}
	h := mapped.HandleOf(f, path)
	defer h.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", files.Name(path), files.Reason(err))
	}
	e := &external{dir: filepath.Dir(path)}
	defer e.close()
	m, err := read(h, info.Size(), e.find)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", files.Name(path), files.Quoted(unprefixed(err)))
	}
	return m, nil
}

// Read reads a model that has all of its data.
func Read(r io.Reader) (*Model, error) {
	b, err := files.ReadFrom(r, 0, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	m, err := read(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", files.Quoted(unprefixed(err)))
	}
	return m, nil
}

// unprefixed returns err without the name of this package.
func unprefixed(err error) error {
	const prefix = "onnx: "
	if text := err.Error(); len(text) > len(prefix) && text[:len(prefix)] == prefix {
		return &renamed{text[len(prefix):], err}
	}
	return err
}

// renamed is an error with another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }

func read(src io.ReaderAt, size int64, external op.External) (*Model, error) {
	p, err := proto.Parse(src, size)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is no ONNX model: %w", err)
	case p.Graph == nil || len(p.Opsets) == 0:
		return nil, errors.New("it is no ONNX model: it has no graph, or no operator set")
	}
	if err := hostmem.Check(len(p.Opsets), perPart); err != nil {
		return nil, err
	}
	m := &Model{Name: p.Graph.Name, Producer: p.Producer, Opsets: versions(p.Opsets), proto: p, bodies: map[*proto.Graph]*program{}, needs: map[need]int{}}
	if p.Version != "" {
		m.Producer += " " + p.Version
	}
	if err := checkOpset(m.Opsets); err != nil {
		return nil, err
	}
	b := &builder{m: m, opsets: m.Opsets, external: external}
	if err := b.functionsOf(p.Functions); err != nil {
		return nil, err
	}
	if m.main, err = b.graph(p.Graph, names{}); err != nil {
		return nil, err
	}
	for _, in := range p.Graph.Inputs {
		if _, ok := m.main.consts[in.Name]; !ok {
			m.inputs = append(m.inputs, infoOf(in))
		}
	}
	for _, out := range p.Graph.Outputs {
		m.outputs = append(m.outputs, infoOf(out))
	}
	m.main.layOutWeights(p.Graph)
	m.lacks = m.missing()
	m.apart, m.stages, m.small = make([]bool, len(m.main.nodes)), map[[2]int]*stage{}, make([]seen, len(m.inputs))
	if err := m.markDraws(m.main, 0); err != nil {
		return nil, err
	}
	for i, n := range m.main.nodes {
		m.apart[i] = n.draws
	}
	return m, nil
}

// checkOpset returns an error if the version of the standard's operators is too old or too new.
func checkOpset(opsets map[string]int) error {
	if v, ok := opsets[""]; ok && (v < ops.Oldest || v > ops.Newest) {
		return fmt.Errorf("it is of opset %d, want %d to %d: convert it with onnx.version_converter", v, ops.Oldest, ops.Newest)
	}
	return nil
}

// rng returns the source of random bits of a run: another one for each.
func (m *Model) rng() *tensor.RNG { return tensor.NewRNG(m.runs.Add(1) - 1) }

// with returns the model with another program of the same nodes.
func (m *Model) with(main *program) *Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Model{
		Name: m.Name, Producer: m.Producer, Opsets: m.Opsets,
		inputs: m.inputs, outputs: m.outputs, proto: m.proto, main: main, bodies: m.bodies, needs: m.needs, lacks: m.lacks,
		apart: slices.Clone(m.apart), stages: map[[2]int]*stage{},
	}
}
