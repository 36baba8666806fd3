package proto

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/tensorken/tensorken/internal/files"
)

// An encoder has the bytes of a message, in pieces, so that the elements of tensors are not copied.
type encoder struct {
	pieces [][]byte
	size   int
	encode func(*Tensor) error // fills in Memory or Strings
}

// Encode writes a model. encode fills in the Memory or the Strings of a tensor.
func Encode(w io.Writer, m *Model, encode func(*Tensor) error) error {
	return write(w, encode, func(e *encoder) { e.model(m) })
}

// EncodeTensor writes a TensorProto.
func EncodeTensor(w io.Writer, t *Tensor, encode func(*Tensor) error) error {
	return write(w, encode, func(e *encoder) { e.tensor(t) })
}

// EncodeList writes a SequenceProto or an OptionalProto.
func EncodeList(w io.Writer, l *ListValue, encode func(*Tensor) error) error {
	return write(w, encode, func(e *encoder) { e.list(l) })
}

func (e *encoder) list(l *ListValue) {
	const tensors, sequences = 1, 3 // of SequenceProto.DataType and OptionalProto.DataType
	switch {
	case len(l.Tensors) > 0:
		e.int(2, tensors)
	case len(l.Lists) > 0:
		e.int(2, sequences)
	}
	messages(e, 3, l.Tensors, (*encoder).tensor)
	messages(e, 5, l.Lists, (*encoder).list)
}

func write(w io.Writer, encode func(*Tensor) error, fill func(*encoder)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*parseError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	if err := files.Given(w); err != nil {
		return err
	}
	e := &encoder{encode: encode}
	fill(e)
	for _, p := range e.pieces {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// add appends bytes. A small piece joins the piece before.
func (e *encoder) add(b []byte) {
	const small = 1 << 12
	e.size += len(b)
	if n := len(e.pieces); n > 0 && len(b) < small && len(e.pieces[n-1]) < small {
		e.pieces[n-1] = append(e.pieces[n-1][:len(e.pieces[n-1]):len(e.pieces[n-1])], b...)
		return
	}
	e.pieces = append(e.pieces, b)
}

func (e *encoder) tag(number, wire int) {
	e.add(binary.AppendUvarint(nil, uint64(number)<<3|uint64(wire)))
}

// int writes a varint field unless it is 0.
func (e *encoder) int(number int, v int64) {
	if v != 0 {
		e.always(number, v)
	}
}

func (e *encoder) always(number int, v int64) {
	e.tag(number, wireVarint)
	e.add(binary.AppendUvarint(nil, uint64(v)))
}

func (e *encoder) float(number int, v float32) {
	e.tag(number, wireFixed32)
	e.add(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

func (e *encoder) bytes(number int, b []byte) {
	e.tag(number, wireBytes)
	e.add(binary.AppendUvarint(nil, uint64(len(b))))
	e.add(b)
}

// text writes a field unless it is empty.
func (e *encoder) text(number int, s string) {
	if s != "" {
		e.bytes(number, []byte(s))
	}
}

func (e *encoder) texts(number int, list []string) {
	for _, s := range list {
		e.bytes(number, []byte(s))
	}
}

// message writes a field that f fills.
func (e *encoder) message(number int, f func(*encoder)) {
	inner := &encoder{encode: e.encode}
	f(inner)
	e.tag(number, wireBytes)
	e.add(binary.AppendUvarint(nil, uint64(inner.size)))
	for _, p := range inner.pieces {
		e.add(p)
	}
}

// messages writes a field for each element of a list.
func messages[T any](e *encoder, number int, list []T, f func(*encoder, T)) {
	for _, x := range list {
		e.message(number, func(e *encoder) { f(e, x) })
	}
}

func (e *encoder) model(m *Model) {
	e.int(1, m.IRVersion)
	e.text(2, m.Producer)
	e.text(3, m.Version)
	e.text(4, m.Domain)
	e.text(6, m.Doc)
	e.message(7, func(e *encoder) { e.graph(m.Graph) })
	messages(e, 8, m.Opsets, (*encoder).opset)
	messages(e, 14, m.Metadata, (*encoder).pair)
	messages(e, 25, m.Functions, (*encoder).function)
}

func (e *encoder) opset(o Opset) {
	e.text(1, o.Domain)
	e.int(2, o.Version)
}

func (e *encoder) pair(p Pair) {
	e.text(1, p.Key)
	e.text(2, p.Value)
}

func (e *encoder) graph(g *Graph) {
	messages(e, 1, g.Nodes, (*encoder).node)
	e.text(2, g.Name)
	messages(e, 5, g.Initializers, (*encoder).tensor)
	messages(e, 11, g.Inputs, (*encoder).info)
	messages(e, 12, g.Outputs, (*encoder).info)
	messages(e, 13, g.Infos, (*encoder).info)
	messages(e, 15, g.Sparse, (*encoder).sparse)
}

func (e *encoder) node(n *Node) {
	e.texts(1, n.Inputs)
	e.texts(2, n.Outputs)
	e.text(3, n.Name)
	e.text(4, n.Op)
	messages(e, 5, n.Attrs, (*encoder).attr)
	e.text(7, n.Domain)
	e.text(8, n.Overload)
}

// Types of attributes.
const (
	AttrFloat   = 1
	AttrInt     = 2
	AttrString  = 3
	AttrTensor  = 4
	AttrGraph   = 5
	AttrFloats  = 6
	AttrInts    = 7
	AttrStrings = 8
)

func (e *encoder) attr(a *Attr) {
	e.text(1, a.Name)
	switch a.Type {
	case AttrFloat:
		e.float(2, a.F)
	case AttrInt:
		e.always(3, a.I)
	case AttrString:
		e.bytes(4, []byte(a.S))
	}
	if a.T != nil {
		e.message(5, func(e *encoder) { e.tensor(a.T) })
	}
	if a.G != nil {
		e.message(6, func(e *encoder) { e.graph(a.G) })
	}
	for _, f := range a.Floats {
		e.float(7, f)
	}
	for _, i := range a.Ints {
		e.always(8, i)
	}
	e.texts(9, a.Strings)
	messages(e, 10, a.Tensors, (*encoder).tensor)
	messages(e, 11, a.Graphs, (*encoder).graph)
	if a.TP != nil {
		e.message(14, func(e *encoder) { e.typ(a.TP) })
	}
	e.int(20, a.Type)
	e.text(21, a.Ref)
	if a.Sparse != nil {
		e.message(22, func(e *encoder) { e.sparse(a.Sparse) })
	}
}

func (e *encoder) tensor(given *Tensor) {
	copied := *given
	t := &copied
	if err := e.encode(t); err != nil {
		fail("tensor %q: %v", t.Name, err)
	}
	for _, d := range t.Dims {
		e.always(1, d)
	}
	e.int(2, t.Type)
	e.texts(6, t.Strings)
	e.text(8, t.Name)
	if t.Strings == nil && !t.Apart {
		e.bytes(9, t.Memory)
	}
	messages(e, 13, t.External, (*encoder).pair)
	if t.Apart {
		e.int(14, 1)
	}
}

func (e *encoder) sparse(s *Sparse) {
	e.message(1, func(e *encoder) { e.tensor(s.Values) })
	e.message(2, func(e *encoder) { e.tensor(s.Indices) })
	for _, d := range s.Dims {
		e.always(3, d)
	}
}

func (e *encoder) info(v *ValueInfo) {
	e.text(1, v.Name)
	if v.Type != nil {
		e.message(2, func(e *encoder) { e.typ(v.Type) })
	}
}

func (e *encoder) typ(t *Type) {
	if t.Kind == 0 {
		return
	}
	e.message(t.Kind, func(e *encoder) {
		switch t.Kind {
		case KindTensor, KindSparse:
			e.int(1, t.Elem)
			if t.HasShape {
				e.message(2, func(e *encoder) { messages(e, 1, t.Dims, (*encoder).dim) })
			}
		case KindMap:
			e.int(1, t.Key)
			if t.Inner != nil {
				e.message(2, func(e *encoder) { e.typ(t.Inner) })
			}
		default:
			if t.Inner != nil {
				e.message(1, func(e *encoder) { e.typ(t.Inner) })
			}
		}
	})
}

func (e *encoder) dim(d Dim) {
	if d.Value >= 0 {
		e.always(1, d.Value)
	}
	e.text(2, d.Param)
}

func (e *encoder) function(f *Function) {
	e.text(1, f.Name)
	e.texts(4, f.Inputs)
	e.texts(5, f.Outputs)
	e.texts(6, f.Attrs)
	messages(e, 7, f.Nodes, (*encoder).node)
	messages(e, 9, f.Opsets, (*encoder).opset)
	e.text(10, f.Domain)
	messages(e, 11, f.Defaults, (*encoder).attr)
	e.text(13, f.Overload)
}
