// Package modeltest writes small models in ONNX, for tests of programs that run models.
package modeltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A Model is a graph and its constants.
type Model struct {
	Inputs, Outputs []Value
	Nodes           []Node
	Constants       map[string]tensor.Tensor
	Apart           string // the name of a file of its own for the constants, floats; empty if they are in the model's
}

// A Value is an input or a result. Axes of length -1 have any.
type Value struct {
	Name string
	Elem onnx.Elem
	Dims []int
}

// The types of elements, by their numbers in the standard.
const (
	Float  onnx.Elem = 1
	Int64  onnx.Elem = 7
	String onnx.Elem = 8
)

// A Node has an operator of the standard, or of another domain. Its attributes are int, float32, string or slices
// of them.
type Node struct {
	Op, Domain string
	In, Out    []string
	Attrs      map[string]any
}

// Call returns a node with one result.
func Call(op, out string, in ...string) Node { return Node{Op: op, In: in, Out: []string{out}} }

// With returns the node with an attribute more.
func (n Node) With(name string, value any) Node {
	n.Attrs = maps.Clone(n.Attrs)
	if n.Attrs == nil {
		n.Attrs = map[string]any{}
	}
	n.Attrs[name] = value
	return n
}

// ML returns a node of ai.onnx.ml, with one result.
func ML(op, out string, in ...string) Node {
	n := Call(op, out, in...)
	n.Domain = "ai.onnx.ml"
	return n
}

// Write writes the model into a file, and returns its path.
func (m Model) Write(t testing.TB) string {
	t.Helper()
	var g message
	for _, n := range m.Nodes {
		g.bytes(1, n.message(t))
	}
	g.text(2, "test")
	dir := t.TempDir()
	var apart []byte
	for _, name := range slices.Sorted(maps.Keys(m.Constants)) {
		var c message
		if m.Apart != "" {
			c, apart = external(t, m.Constants[name], m.Apart, apart)
		} else {
			c = constant(t, m.Constants[name])
		}
		c.text(8, name)
		g.bytes(5, c)
	}
	if m.Apart != "" {
		if err := os.WriteFile(filepath.Join(dir, m.Apart), apart, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range m.Inputs {
		g.bytes(11, v.message())
	}
	for _, v := range m.Outputs {
		g.bytes(12, v.message())
	}
	var file message
	file.int(1, 10) // version of the format
	file.bytes(7, g)
	for domain, version := range map[string]int{"": 20, "ai.onnx.ml": 3} {
		var o message
		o.text(1, domain)
		o.int(2, version)
		file.bytes(8, o)
	}
	path := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// constant returns the message of a tensor.
func constant(t testing.TB, x tensor.Tensor) message {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.WriteValue(&b, onnx.Value{Kind: onnx.TensorKind, Elem: onnx.ElemOf(x.DType()), Tensor: x}, onnx.Info{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// external returns the message of a tensor of floats whose elements are in a file, and the bytes of the file with
// them.
func external(t testing.TB, x tensor.Tensor, file string, before []byte) (m message, data []byte) {
	t.Helper()
	list, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range x.Shape() {
		m.int(1, n)
	}
	m.int(2, int(Float))
	for _, p := range [][2]string{{"location", file}, {"offset", strconv.Itoa(len(before))}, {"length", strconv.Itoa(4 * len(list))}} {
		var pair message
		pair.text(1, p[0])
		pair.text(2, p[1])
		m.bytes(13, pair)
	}
	m.int(14, 1)
	for _, f := range list {
		before = binary.LittleEndian.AppendUint32(before, math.Float32bits(f))
	}
	return m, before
}

func (v Value) message() (m message) {
	var shape message
	for i, n := range v.Dims {
		var d message
		if n < 0 {
			d.text(2, fmt.Sprintf("n%d", i))
		} else {
			d.int(1, n)
		}
		shape.bytes(1, d)
	}
	var kind, of message
	kind.int(1, int(v.Elem))
	kind.bytes(2, shape)
	of.bytes(1, kind)
	m.text(1, v.Name)
	m.bytes(2, of)
	return m
}

func (n Node) message(t testing.TB) (m message) {
	for _, name := range n.In {
		m.text(1, name)
	}
	for _, name := range n.Out {
		m.text(2, name)
	}
	m.text(4, n.Op)
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		var a message
		a.text(1, name)
		switch x := n.Attrs[name].(type) {
		case float32:
			a.float(2, x)
			a.int(20, 1)
		case int:
			a.int(3, x)
			a.int(20, 2)
		case string:
			a.text(4, x)
			a.int(20, 3)
		case []float32:
			for _, x := range x {
				a.float(7, x)
			}
			a.int(20, 6)
		case []int:
			for _, x := range x {
				a.int(8, x)
			}
			a.int(20, 7)
		case []string:
			for _, x := range x {
				a.text(9, x)
			}
			a.int(20, 8)
		default:
			t.Fatalf("attribute %s is %T", name, x)
		}
		m.bytes(5, a)
	}
	m.text(7, n.Domain)
	return m
}

// A message is one of protobuf: fields by number.
type message []byte

func (m *message) int(number, v int) {
	*m = binary.AppendUvarint(*m, uint64(number)<<3)
	*m = binary.AppendUvarint(*m, uint64(v))
}

func (m *message) float(number int, v float32) {
	*m = binary.AppendUvarint(*m, uint64(number)<<3|5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

func (m *message) bytes(number int, v []byte) {
	*m = binary.AppendUvarint(*m, uint64(number)<<3|2)
	*m = append(binary.AppendUvarint(*m, uint64(len(v))), v...)
}

func (m *message) text(number int, v string) { m.bytes(number, []byte(v)) }
