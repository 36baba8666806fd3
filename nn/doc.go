// Package nn provides layers, losses and initializers of neural networks.
//
// A layer is a plain struct of tensors, and a model is any Go value made of
// layers: a struct of the user's own, or a [Sequential]. The exported fields
// are the parameters, and their names in snake case are the names in files: a
// model saved by PyTorch loads into a struct of the same form.
//
// Settings such as Eps, Stride or Heads are not in files. Set them before loading, which keeps
// them: m := Model{Norm: nn.LayerNorm{Eps: 1e-12}}, then safetensors.Load(path, &m). A field
// tagged "optional", as Bias of most layers, may be missing in the file.
//
// Apply is inference. Training passes an explicit source of randomness:
// [Dropout.Drop], or [Train] for layers that also carry statistics from step to
// step. A nil *tensor.RNG always means inference.
//
// Losses are not reduced: call Mean on the result. They do not broadcast.
//
// In a layer a zero Eps, Momentum, Stride, Dilation or Groups means PyTorch's
// default; a zero P or Padding means zero.
//
// Inputs have the batch on axis 0. Convolutions, pools and batch norms have
// the channels on axis 1, attention, transformer and recurrent layers time on the last
// axis but one; all other layers work on the last axis. A wrong
// shape or type panics with a *tensor.Error that names the layer or loss.
package nn
