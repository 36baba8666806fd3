package models

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// An Attention is an [nn.Attention] with the names of Llama's files. In Phi's files QKVProj has the rows
// of QProj, KProj and VProj.
type Attention struct {
	QProj, KProj, VProj nn.Linear  `tensor:",optional"`
	QKVProj             *nn.Linear `tensor:",optional"`
	OProj               nn.Linear
	QNorm, KNorm        *RMSNorm     `tensor:",optional"`
	Settings            nn.Attention `tensor:"-"` // without tensors
}

// Attention returns the layer as an [nn.Attention].
func (l Attention) Attention() nn.Attention {
	if l.QKVProj != nil {
		keys := l.Settings.KVHeads
		width := l.QKVProj.Weight.Dim(0) / (l.Settings.Heads + 2*keys)
		parts := split(*l.QKVProj, l.Settings.Heads*width, keys*width, keys*width)
		l.QProj, l.KProj, l.VProj = parts[0], parts[1], parts[2]
	}
	a := withTensors(l.Settings, l.QProj, l.KProj, l.VProj, l.OProj)
	if l.QNorm != nil {
		a.QNorm, a.KNorm = l.QNorm, l.KNorm
	}
	return a
}

func withTensors(a nn.Attention, q, k, v, o nn.Linear) nn.Attention {
	a.Q, a.K, a.V, a.O = q, k, v, o
	return a
}

// split returns layers of some of the outputs each.
func split(l nn.Linear, outputs ...int) (parts []nn.Linear) {
	at := 0
	for _, n := range outputs {
		part := nn.Linear{Weight: l.Weight.Slice(0, at, at+n)}
		if l.Bias.IsValid() {
			part.Bias = l.Bias.Slice(0, at, at+n)
		}
		parts, at = append(parts, part), at+n
	}
	return parts
}

// A GatedMLP is an [nn.GatedFeedForward] with the names of Llama's files. In Phi's files GateUpProj has the
// rows of GateProj and UpProj.
type GatedMLP struct {
	GateProj, UpProj nn.Linear  `tensor:",optional"`
	GateUpProj       *nn.Linear `tensor:",optional"`
	DownProj         nn.Linear
	Act              nn.Func
}

// Apply maps x of shape [... width] to the same shape.
func (l GatedMLP) Apply(x tensor.Tensor) tensor.Tensor {
	if l.GateUpProj != nil {
		n := l.GateUpProj.Weight.Dim(0) / 2
		parts := split(*l.GateUpProj, n, n)
		l.GateProj, l.UpProj = parts[0], parts[1]
	}
	return nn.GatedFeedForward{Gate: l.GateProj, Up: l.UpProj, Down: l.DownProj, Act: l.Act}.Apply(x)
}

// An Expert is a [GatedMLP] with the names of Mixtral's files: W1 is the gate, W2 goes down and W3
// up.
type Expert struct{ W1, W2, W3 nn.Linear }

// A SparseMLP is an [nn.MixtureOfExperts] with the names of Mixtral's files. Models of Qwen 2 add the result of
// SharedExpert, times the sigmoid of its gate.
type SparseMLP struct {
	Gate             nn.Linear
	Experts          []Expert
	SharedExpert     *GatedMLP  `tensor:",optional"`
	SharedExpertGate *nn.Linear `tensor:",optional"`
	TopK             int
	Act              nn.Func
	Unnormalized     bool // see [nn.MixtureOfExperts]
}

// Apply maps x of shape [... width] to the same shape.
func (l SparseMLP) Apply(x tensor.Tensor) tensor.Tensor {
	m := nn.MixtureOfExperts{Gate: l.Gate, TopK: l.TopK, Unnormalized: l.Unnormalized}
	for _, e := range l.Experts {
		m.Experts = append(m.Experts, nn.GatedFeedForward{Gate: e.W1, Up: e.W3, Down: e.W2, Act: l.Act})
	}
	y := m.Apply(x)
	if l.SharedExpert != nil {
		y = y.Add(l.SharedExpert.Apply(x).Mul(l.SharedExpertGate.Apply(x).Sigmoid()))
	}
	return y
}

// An RMSNorm is an [nn.RMSNorm] that computes in float32. Its weights may be stored minus one,
// as Gemma's are.
type RMSNorm struct {
	Weight tensor.Tensor // [width]
	Eps    float64
	Plus   float64 // is added to Weight
}

// Apply maps x of shape [... width] to the same shape.
func (l RMSNorm) Apply(x tensor.Tensor) tensor.Tensor {
	wide := x
	if x.DType().Size() < 4 {
		wide = x.Cast(tensor.Float32)
	}
	y := nn.RMSNorm{Eps: l.Eps}.Apply(wide)
	if l.Plus != 0 {
		return y.Mul(l.Weight.Cast(y.DType()).Add(l.Plus)).Cast(x.DType())
	}
	return y.Cast(x.DType()).Mul(l.Weight)
}

// An OutAttention is an [nn.Attention] with the names of the files of CLIP and Whisper.
type OutAttention struct {
	QProj, KProj, VProj, OutProj nn.Linear
	Settings                     nn.Attention `tensor:"-"` // without tensors
}

// Attention returns the layer as an [nn.Attention].
func (l OutAttention) Attention() nn.Attention {
	return withTensors(l.Settings, l.QProj, l.KProj, l.VProj, l.OutProj)
}
