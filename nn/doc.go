// Package nn provides layers, losses and initializers of neural networks. Read layer.go
// first, then linear.go.
//
// A layer is a plain struct of tensors, and a model is any Go value made of
// layers: a struct of the user's own, or a [Sequential]. The exported fields
// are the parameters, and their names in snake case are the names in files: a
// model saved by PyTorch loads into a struct of the same form.
//
// Apply is inference. Training passes an explicit source of randomness:
// [Dropout.Drop], or [Train] for layers that also carry statistics from step to
// step. A nil *tensor.RNG always means inference.
//
// Losses are not reduced: call Mean on the result. They do not broadcast.
//
// # Conventions
//
// Settings such as Eps, Stride or Heads are not in files. Set them before loading, which keeps
// them: m := Model{Norm: nn.LayerNorm{Eps: 1e-12}}, then safetensors.Load(path, &m). A field
// tagged "optional", as Bias of most layers, may be missing in the file.
//
// In a layer a zero Eps, Momentum, Stride, Dilation or Groups means PyTorch's
// default, except that Eps of [RMSNorm] is then 1e-6; a zero P or Padding means zero.
//
// Inputs have the batch on axis 0. Convolutions, pools and batch norms have
// the channels on axis 1, attention, transformer and recurrent layers time on the last
// axis but one; all other layers work on the last axis. A wrong
// shape or type, or a setting without a meaning, panics with a *tensor.Error that names the
// layer or loss.
//
// Numbers such as Eps, margins and smoothing keep their digits where tensors have 16 bits:
// arithmetic with them is in float32. Losses of infinite predictions are limits, and terms of
// weight 0 do not count.
//
// # By subject
//
//   - Models: [Layer], [Stateful], [Train], [Sequential], [Residual], [Func], [Identity],
//     [Summary], [SummaryOf].
//   - Dense: [Linear], [Bilinear], [Embedding], [Flatten], [FeedForward], [GatedFeedForward],
//     [MixtureOfExperts] with [LoadBalance].
//   - Convolutions: [Conv], [ConvTranspose], [Unfold], [Fold]; pools: [MaxPool], [AvgPool],
//     [AdaptiveMaxPool], [AdaptiveAvgPool]; sizes: [Upsample], [PixelShuffle], [Pad].
//   - Norms: [LayerNorm], [RMSNorm], [BatchNorm], [GroupNorm], [InstanceNorm],
//     [LocalResponseNorm]; of weights: [WeightNorm], [SpectralNorm].
//   - Activations with parameters: [PReLU]; others are methods of tensors, such as
//     tensor.Tensor.ReLU.
//   - Dropout: [Dropout], [ChannelDropout].
//   - Recurrent: [RNN], [LSTM], [GRU]; for a Sequential [RNNLayer], [LSTMLayer], [GRULayer]; steps:
//     [RNNCell], [LSTMCell], [GRUCell].
//   - Attention: [Attention], [MultiheadAttention], [TransformerEncoder], [TransformerDecoder] and
//     their layers; generation: [KVCache], [CacheType], [DecoderCache], [PaddingMask]; positions:
//     [Rotary], [Sinusoids], [ALiBi], [ALiBiSlopes], [RelativeBias].
//   - Losses of classes: [CrossEntropy], [CrossEntropyWith], [SoftCrossEntropy], [NLL], [KLDiv],
//     [BCEWithLogits], [BCEWithPosWeight], [BCE], [Focal], [CTC]; margins: [Hinge], [MultiMargin],
//     [MultiLabelMargin], [SoftMargin], [MultiLabelSoftMargin], [MarginRanking].
//   - Losses of numbers: [MSE], [L1], [Huber], [SmoothL1], [PoissonNLL], [GaussianNLL].
//   - Losses of vectors: [CosineDistance], [CosineEmbedding], [HingeEmbedding], [TripletMargin],
//     [InfoNCE]; [Normalize].
//   - Initial weights: [XavierUniform], [XavierNormal], [KaimingUniform], [KaimingNormal],
//     [Orthogonal], [TruncNormal], [Fans], [GainTanh], [GainLeakyReLU].
package nn
