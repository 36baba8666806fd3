package tensor

import (
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// Misuse panics with an [*Error] about op on operands, as this package's operations do.
func (internal) Misuse(_ graph.Token, op, reason string, operands ...any) {
	fail(op, reason, operands...)
}

// TakesType reports whether t has type d, or is an untyped constant that takes it.
func (internal) TakesType(_ graph.Token, t Tensor, d DType) bool {
	n := t.node("TakesType")
	return n.DType == d || takesType(n, d)
}

// Promote returns x and y in one type: if theirs differ, an untyped constant takes the other's.
func (internal) Promote(_ graph.Token, op string, x, y Tensor) (Tensor, Tensor) {
	a, b := promote(op, x.node(op), y.node(op))
	return Tensor{n: a}, Tensor{n: b}
}

// ByType returns f(ts) where f makes different nodes for float64 and float32: see
// graph.ByType.
func (internal) ByType(_ graph.Token, f func(ts []Tensor) []Tensor, ts ...Tensor) []Tensor {
	return tensorsOf(graph.ByType(func(src []*graph.Node) []*graph.Node { return nodesOf(f(tensorsOf(src))) }, nodesOf(ts)...))
}

func tensorsOf(ns []*graph.Node) []Tensor {
	ts := make([]Tensor, len(ns))
	for i, n := range ns {
		ts[i].n = n
	}
	return ts
}

func nodesOf(ts []Tensor) []*graph.Node {
	ns := make([]*graph.Node, len(ts))
	for i, t := range ts {
		ns[i] = t.n
	}
	return ns
}

// Constant returns an untyped constant that is part of compiled programs, as a setting of a layer: equal work
// of several layers is done once. Numbers of users are arguments, see [Scalar].
func (internal) Constant(_ graph.Token, d DType, v float64) Tensor {
	return Tensor{n: graph.Fill(d, v, nil).AsUntyped()}
}

// Table returns numbers as an untyped constant that is stored as float32, since WebGPU
// lacks float64.
func (internal) Table(_ graph.Token, v []float64, lengths ...int) Tensor {
	rounded := make([]float32, len(v))
	for i, x := range v {
		rounded[i] = float32(x)
	}
	return Tensor{n: graph.Table(New(rounded, lengths...).n, func() *graph.Node { return New(v, lengths...).n })}
}

// Narrow returns indices in a type that devices have for them.
func (internal) Narrow(_ graph.Token, op string, index Tensor) Tensor {
	return Tensor{n: narrow(index.node(op))}
}

// Pick selects from each row along the last axis of x the element at the row's label,
// and drops the axis. Labels have the shape of the result. Negative labels are out of
// range, unlike the indices of [Tensor.Take].
func (internal) Pick(_ graph.Token, op string, x, labels Tensor) Tensor {
	from, at := x.node(op), labels.node(op)
	checkDevices(op, from, at)
	at = narrow(at)
	site := graph.NewIndexSite(op, at.Shape)
	site.Noun, site.Of = "label", "%d classes"
	last := len(at.Shape)
	return Tensor{n: drop(graph.At(site, graph.Gather(from, insert(at, last), last)), last)}
}

// HostCall returns the results of a function that runs on the host, on behalf of op: see
// graph.HostFunc. Operands have the same leading axes and one axis more, and one type.
func (internal) HostCall(_ graph.Token, op string, length int, key any, run func(out graph.HostArray, in []graph.HostArray) error, operands ...Tensor) Tensor {
	ns := nodes(op, operands)
	for _, n := range ns[1:] {
		checkDevices(op, ns[0], n)
	}
	return Tensor{n: graph.HostCall(op, length, key, run, ns...)}
}

// Positions returns t, indices for the device of x, as int32. That each is from 0 to n-1 is
// checked when they are computed: noun and of name them in errors, as in graph.IndexSite.
func (internal) Positions(_ graph.Token, op, noun, of string, x, t Tensor, n int) Tensor {
	checkCount(op, n)
	at := narrow(t.node(op))
	site := graph.NewIndexSite(op, at.Shape)
	site.Noun, site.Of = noun, of
	flat := graph.Reshape(at, []int{at.Len()})
	return Tensor{n: graph.Reshape(graph.At(site, graph.Gather(graph.Iota([]int{n}, 0), flat, 0)), at.Shape)}
}

// checked returns y, whose elements are errors when they are computed where valid, of y's
// shape, is false. The error says that noun, at the position, is at fault.
func checked(op string, y, valid *graph.Node, noun, fault string) *graph.Node {
	site := graph.NewIndexSite(op, y.Shape)
	site.Noun, site.Fault = noun, fault
	last := len(y.Shape)
	at := insert(graph.Cast(not(valid), ir.Int32), last) // 1 is out of range for an axis of length 1
	return drop(graph.At(site, graph.Gather(insert(y, last), at, last)), last)
}

// Checked returns y, whose elements are errors of op when they are computed where valid, of y's
// shape, is false. The error says that noun, at the position, is at fault.
func (internal) Checked(_ graph.Token, op string, y, valid Tensor, noun, fault string) Tensor {
	return Tensor{n: checked(op, y.node(op), valid.node(op), noun, fault)}
}

// Take is [Tensor.Take] on behalf of another operation.
func (internal) Take(_ graph.Token, op string, x Tensor, axis int, index Tensor) Tensor {
	return Tensor{n: take(op, x.node(op), axisOf(op, x.n, axis), index)}
}

// InsideOf returns the transformation, such as grad.Vmap, of a function that runs and inside of which t
// has no value, or "".
func (internal) InsideOf(_ graph.Token, t Tensor) string {
	if of, ended := t.n.PlaceholdersOf(); !ended {
		return of
	}
	return ""
}

// Step computes next in one plan, as one transaction. next[i] is the new value of
// old[i], which may be absent; further tensors are computed with it. Together says that all ranks make the step, with
// graphs of equal shapes. Step fails if an index is out of range. An asynchronous
// device finds such an index later: it then fills next with the elements of old, and
// Failed reports the step. Where donates is set, next may have the memory of an old[i] that
// a Step has made; keep says how a caller keeps it.
func (internal) Step(_ graph.Token, op, keep string, j *storage.Journal, together bool, next, old []Tensor, donates []bool) error {
	var ns, before, donated []*graph.Node
	for i, t := range next {
		if t.n == nil {
			continue
		}
		if err := hasValue(op, t.n); err != nil {
			return err
		}
		ns = append(ns, t.n)
		if i >= len(old) {
			continue
		}
		before = append(before, old[i].n)
		if donates[i] && old[i].n != nil {
			donated = append(donated, old[i].n)
		}
	}
	end := storage.DonateReplaced(donated, ns, gone(op, keep))
	d := Default().exec()
	err := exec.Step(d, j, together, ns, before)
	end(err != nil)
	return failure(op, d, err)
}

// StoreApart moves the elements of evaluated tensors, which may be absent, to the places
// where a step would store them: see storage.StoreApart.
func (internal) StoreApart(_ graph.Token, op string, ts []Tensor) error {
	var ns []*graph.Node
	for _, t := range ts {
		if t.n != nil {
			ns = append(ns, t.n)
		}
	}
	d := Default().exec()
	return failure(op, d, storage.StoreApart(ns))
}

// Replace lets [Step] have the memory of evaluated tensors, as if it had made them.
func (internal) Replace(_ graph.Token, ts []Tensor) { storage.Replace(validNodes(ts)) }

// Failed returns the number of steps of a journal that failed since the last call, and
// the first of their errors that was not reported.
func (internal) Failed(_ graph.Token, op string, j *storage.Journal) (n int, err error) {
	n, err = j.Failed()
	return n, failure(op, Default().exec(), err)
}

// Bytes is [Tensor.Bytes] on behalf of another operation.
func (internal) Bytes(_ graph.Token, op string, t Tensor) ([]byte, error) {
	return t.read(op, exec.View)
}

// Ahead starts to read a computed tensor of int32. Read returns the elements, as [Data] does, without a wait for later
// work if goesOn.
func (internal) Ahead(_ graph.Token, t Tensor) (read func() ([]int32, error), goesOn bool) {
	wait := storage.Ahead(t.n)
	if wait == nil {
		return func() ([]int32, error) { return Data[int32](t) }, false
	}
	return func() ([]int32, error) {
		data, err := t.read("Data", func(*exec.Device, *graph.Node) ([]byte, error) { return wait() })
		return elementsOf[int32](data), err
	}, true
}

// Machine returns the figures of a device.
func (internal) Machine(_ graph.Token, d *Device) ir.Machine { return d.exec().Machine() }

// Allocate returns n bytes, all 0, or an error if the host has too little memory.
func (internal) Allocate(_ graph.Token, n int) ([]byte, error) { return storage.Allocate(n, 1) }
