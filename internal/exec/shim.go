package exec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

type Device struct{ drv driver.Device }

func New(d driver.Device) *Device { return &Device{d} }
func (d *Device) String() string {
	if d.drv == nil {
		return "cpu"
	}
	return d.drv.Name()
}
func (d *Device) Sync() error  { return nil }
func (d *Device) Close() error { return nil }

type Stats struct {
	Plans, Programs    int
	Held, Pooled, Peak int64
}

func Info() Stats { return Stats{} }

type IndexError struct {
	Index     int64
	Len, Axis int
	Line      string
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %d is out of range for axis %d of length %d", e.Index, e.Axis, e.Len)
}

func Explain(def *Device, roots []*graph.Node) string { return "no plan yet\n" }

type hostStore struct{ data []byte }

func (h *hostStore) Device() graph.Device { return nil }

func FromHost(data []byte) graph.Store { return &hostStore{data} }

func Eval(def *Device, roots []*graph.Node) error {
	arrays, err := interp.Eval(roots, leaf)
	if err != nil {
		if e, ok := err.(*interp.IndexError); ok {
			return &IndexError{Index: e.Index, Len: e.Len, Axis: e.Axis}
		}
		return err
	}
	for i, a := range arrays {
		roots[i].SetValue(&graph.Value{Store: &hostStore{encode(a)}, Strides: rowMajor(a.Shape)})
	}
	return nil
}

func Read(def *Device, n *graph.Node) ([]byte, error) {
	if n.Value() == nil {
		if err := Eval(def, []*graph.Node{n}); err != nil {
			return nil, err
		}
	}
	a, err := leaf(n)
	if err != nil {
		return nil, err
	}
	return encode(a), nil
}

func rowMajor(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = step
		step *= shape[i]
	}
	return s
}

func leaf(n *graph.Node) (*interp.Array, error) {
	v := n.Value()
	a := &interp.Array{DType: n.DType, Shape: n.Shape, Elems: make([]ir.Number, n.Len())}
	idx := make([]int, len(n.Shape))
	data := v.Store.(*hostStore).data
	for i := range a.Elems {
		p := v.Offset
		for k, s := range v.Strides {
			p += s * idx[k]
		}
		a.Elems[i] = get(n.DType, data, p)
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < n.Shape[k] {
				break
			}
			idx[k] = 0
		}
	}
	return a, nil
}

func get(d ir.DType, b []byte, i int) ir.Number {
	b = b[i*d.Size():]
	switch d {
	case ir.Bool, ir.Uint8:
		return ir.Int(d, int64(b[0]))
	case ir.Int32, ir.Uint32:
		return ir.Int(d, int64(binary.LittleEndian.Uint32(b)))
	case ir.Int64:
		return ir.Number(binary.LittleEndian.Uint64(b))
	case ir.Float16:
		return ir.Float(d, float64(ir.F16(binary.LittleEndian.Uint16(b)).Float32()))
	case ir.BFloat16:
		return ir.Float(d, float64(ir.BF16(binary.LittleEndian.Uint16(b)).Float32()))
	case ir.Float32:
		return ir.Float(d, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return ir.Number(binary.LittleEndian.Uint64(b))
}

func encode(a *interp.Array) []byte {
	var out []byte
	for _, x := range a.Elems {
		switch a.DType {
		case ir.Bool, ir.Uint8:
			out = append(out, byte(x))
		case ir.Int32, ir.Uint32:
			out = binary.LittleEndian.AppendUint32(out, uint32(x))
		case ir.Float16:
			out = binary.LittleEndian.AppendUint16(out, uint16(ir.ToF16(float32(x.Float64(a.DType)))))
		case ir.BFloat16:
			out = binary.LittleEndian.AppendUint16(out, uint16(ir.ToBF16(float32(x.Float64(a.DType)))))
		case ir.Float32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x.Float64(a.DType))))
		default:
			out = binary.LittleEndian.AppendUint64(out, uint64(x))
		}
	}
	return out
}
