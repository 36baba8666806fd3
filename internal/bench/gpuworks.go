package bench

import (
	"strings"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Suite is the works of a kind of device, and the peers that measure them.
type Suite struct {
	Works []Work
	Peers []Peer
}

// SuiteOf returns the suite of a GPU by its name, or of the CPU by "".
func SuiteOf(device string) Suite {
	if device == "" {
		return Suite{Works, Peers}
	}
	s := Suite{Peers: GPUPeers}
	for _, w := range gpuWorks {
		bar := w.cuda
		if strings.HasPrefix(device, "webgpu") {
			bar = w.webgpu
		}
		if bar.Peers == nil {
			bar.Peers = pytorch
		}
		s.Works = append(s.Works, Work{w.name, w.unit, w.amount, bar, w.start})
	}
	return s
}

// The bars of gpuWorks, of one H200. SuiteOf adds PyTorch where a bar names no peers.

func times(x float64) Bar { return Bar{Times: x} }

func most(x float64) Bar { return Bar{Most: x} }

func mostAndGB(x, gb float64) Bar { return Bar{Most: x, Memory: gb} }

// compilers has the peers that compile training steps.
var compilers = []string{"torch-compile", "torch-graph", "jax"}

const (
	bf16, f16 = tensor.BFloat16, tensor.Float16

	attentionAmount = 4 * 4 * 16 * 4096 * 4096 // for each of the width of a head
	backward        = 3.5                      // forward and backward, times forward
)

// gpuWorks has the works of GPUs, each with its bars on cuda and on webgpu.
var gpuWorks = []struct {
	name         string
	unit         Unit
	amount       float64
	cuda, webgpu Bar
	start        setup
}{
	{"matmul/1024", TFLOPs, 2 << 30, times(1), times(0.88), matmul(1024)},
	{"matmul/2048", TFLOPs, 2 << 33, times(1), times(0.88), matmul(2048)},
	{"matmul/4096", TFLOPs, 2 << 36, times(1.3), times(0.88), matmul(4096)},
	{"matmul/8192", TFLOPs, 2 << 39, times(1.3), times(0.88), matmul(8192)},
	{"matmul/4096/bf16", TFLOPs, 2 << 36, times(1), Bar{}, halved(bf16, matmul(4096))},
	{"matmul/8192/bf16", TFLOPs, 2 << 39, times(1), Bar{}, halved(bf16, matmul(8192))},
	{"matmul/4096/f16", TFLOPs, 2 << 36, times(1), Bar{}, halved(f16, matmul(4096))},
	{"matmul/8192/f16", TFLOPs, 2 << 39, times(1), Bar{}, halved(f16, matmul(8192))},
	{"attention/64", TFLOPs, 64 * attentionAmount, times(0.95), Bar{}, halved(bf16, attention(false, 4, 16, 4096, 64))},
	{"attention/64/causal", TFLOPs, 32 * attentionAmount, times(0.95), Bar{}, halved(bf16, attention(true, 4, 16, 4096, 64))},
	{"attention/64/backward", TFLOPs, backward * 64 * attentionAmount, times(0.9), Bar{}, halved(bf16, attentionGradient(false, 4, 16, 4096, 64))},
	{"attention/64/causal/backward", TFLOPs, backward * 32 * attentionAmount, times(0.9), Bar{}, halved(bf16, attentionGradient(true, 4, 16, 4096, 64))},
	{"attention/128", TFLOPs, 128 * attentionAmount, times(0.95), Bar{}, halved(bf16, attention(false, 4, 16, 4096, 128))},
	{"attention/128/causal", TFLOPs, 64 * attentionAmount, times(0.95), Bar{}, halved(bf16, attention(true, 4, 16, 4096, 128))},
	{"attention/128/backward", TFLOPs, backward * 128 * attentionAmount, times(0.9), Bar{}, halved(bf16, attentionGradient(false, 4, 16, 4096, 128))},
	{"attention/128/causal/backward", TFLOPs, backward * 64 * attentionAmount, times(0.9), Bar{}, halved(bf16, attentionGradient(true, 4, 16, 4096, 128))},
	{"add/64M", GBytes, 12 * 64 * mega, times(1), times(0.97), binary(added, 64*mega)},
	{"mul/64M", GBytes, 12 * 64 * mega, times(1), times(0.97), binary(product, 64*mega)},
	{"exp/64M", GBytes, 8 * 64 * mega, times(1), times(0.97), unary(tensor.Tensor.Exp, 4, 64*mega)},
	{"sum/64M", GBytes, 4 * 64 * mega, times(1), times(0.97), unary(total, 1, 64*mega)},
	{"chain/64M", GElems, 64 * mega, times(4), times(4), binary(chain, 64*mega)},
	{"softmax/4096", GElems, 16 * mega, times(1), times(0.95), unary(softmax, 4, 4096, 4096)},
	{"layernorm/4096", GElems, 16 * mega, times(1), times(0.95), layerNorm(4096)},
	{"softmax/65536x1024", GElems, 64 * mega, times(1), times(0.95), unary(softmax, 4, 65536, 1024)},
	{"softmax/8192x50304", GElems, 8192 * 50304, times(1), times(0.95), unary(softmax, 4, 8192, 50304)},
	{"crossentropy/8192x50304", GElems, 8192 * 50304, times(1), times(0.95), crossEntropy(8192, 50304)},
	{"argmax/4096", GElems, 16 * mega, times(1), times(0.95), unary(argMax, 1, 4096, 4096)},
	{"rowsums/4096", GElems, 16 * mega, times(1), times(0.95), unary(rowSums, 1, 4096, 4096)},
	{"columnsums/4096", GElems, 16 * mega, times(1), times(0.95), unary(columnSums, 1, 4096, 4096)},
	{"conv/32x64x56x56", TFLOPs, convAmount, times(1.3), times(0.9), conv(32, 64, 56)},
	{"exp/1M", Micros, 0, most(6), most(9), unary(tensor.Tensor.Exp, 4, mega)},
	{"mlp/64", Millis, 0, most(0.08), most(0.25), mlp(64)},
	{"mlp/256", Millis, 0, most(0.08), most(0.25), mlp(256)},
	{"mlp/1024", Millis, 0, most(0.11), most(0.25), mlp(1024)},
	{"transformer", Millis, 0, most(2.2), most(4), trainTransformer(gpuTransformer)},
	{"transformer/bf16", Millis, 0, atLeast(1.05, compilers), Bar{}, halved(bf16, trainTransformer(gpuTransformer))},
	{"gpt2", Millis, 0, Bar{Most: 85, Memory: 8.21, First: 1.3}, mostAndGB(175, 17), trainGPT(gpt2Small)},
	{"gpt2/bf16", Millis, 0, Bar{Times: 1.05, Memory: 5.45, First: 1.3, Peers: compilers}, Bar{}, halved(bf16, trainGPT(gpt2Small))},
}

func added(a, b tensor.Tensor) tensor.Tensor { return a.Add(b) }

func argMax(x tensor.Tensor) tensor.Tensor { return x.ArgMax(1) }

func rowSums(x tensor.Tensor) tensor.Tensor { return x.Sum(1) }

func columnSums(x tensor.Tensor) tensor.Tensor { return x.Sum(0) }

// crossEntropy returns the setup of a mean cross-entropy and its gradient, which is sampled.
func crossEntropy(rows, classes int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		logits, labels := in.floats(4, rows, classes), in.ints(uint32(classes), rows)
		f := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return nn.CrossEntropy(x, labels).Mean() })
		return func() (tensor.Tensor, error) {
			loss, g := f(logits)
			return g, tensor.Eval(loss, g)
		}
	}
}

// attention returns the setup of attention. Lengths are [batch heads length width].
func attention(causal bool, lengths ...int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x := newQKV(in, lengths)
		return func() (tensor.Tensor, error) { return x.attend(causal), nil }
	}
}

// attentionGradient returns the setup of attention and its gradient. Of that, the queries' part
// is sampled.
func attentionGradient(causal bool, lengths ...int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x, cotangent := newQKV(in, lengths), in.floats(1, lengths...)
		f := grad.ValueAndGradAux(func(x qkv) (loss, y tensor.Tensor) {
			y = x.attend(causal)
			return y.Mul(cotangent).Sum(), y
		})
		return func() (tensor.Tensor, error) {
			_, y, g := f(x)
			return g.Q, tensor.Eval(y, g)
		}
	}
}

// A qkv is the inputs of attention, [batch heads length width].
type qkv struct{ Q, K, V tensor.Tensor }

func newQKV(in *inputs, lengths []int) qkv {
	return qkv{in.floats(1, lengths...), in.floats(1, lengths...), in.floats(1, lengths...)}
}

func (x qkv) attend(causal bool) tensor.Tensor {
	return tensor.Attention(x.Q, x.K, x.V, &tensor.AttentionOptions{Causal: causal})
}
