package models

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// An Attention is an [nn.Attention] with the names of Llama's files.
type Attention struct {
	QProj, KProj, VProj, OProj nn.Linear
	QNorm, KNorm               *RMSNorm     `tensor:",optional"`
	Settings                   nn.Attention `tensor:"-"` // without tensors
}

// Attention returns the layer as an [nn.Attention].
func (l Attention) Attention() nn.Attention {
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

// A GatedMLP is an [nn.GatedFeedForward] with the names of Llama's files.
type GatedMLP struct {
	GateProj, UpProj, DownProj nn.Linear
	Act                        nn.Func
}

// Apply maps x of shape [... width] to the same shape.
func (l GatedMLP) Apply(x tensor.Tensor) tensor.Tensor {
	return nn.GatedFeedForward{Gate: l.GateProj, Up: l.UpProj, Down: l.DownProj, Act: l.Act}.Apply(x)
}

// An Expert is a [GatedMLP] with the names of Mixtral's files: W1 is the gate, W2 goes down and W3
// up.
type Expert struct{ W1, W2, W3 nn.Linear }

// A SparseMLP is an [nn.MixtureOfExperts] with the names of Mixtral's files.
type SparseMLP struct {
	Gate    nn.Linear
	Experts []Expert
	TopK    int
	Act     nn.Func
}

// Apply maps x of shape [... width] to the same shape.
func (l SparseMLP) Apply(x tensor.Tensor) tensor.Tensor {
	m := nn.MixtureOfExperts{Gate: l.Gate, TopK: l.TopK}
	for _, e := range l.Experts {
		m.Experts = append(m.Experts, nn.GatedFeedForward{Gate: e.W1, Up: e.W3, Down: e.W2, Act: l.Act})
	}
	return m.Apply(x)
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
