package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Attention as Llama has it: causal, with 8 heads that share 2 heads of keys and values, and
// rotary positions.
func ExampleAttention() {
	rng := tensor.NewRNG(1)
	l := nn.Attention{
		Q: nn.NewLinear(rng, 64, 64), K: nn.NewLinear(rng, 64, 16), V: nn.NewLinear(rng, 64, 16), O: nn.NewLinear(rng, 64, 64),
		Heads: 8, KVHeads: 2, Causal: true, Rotary: nn.Rotary{Base: 10000},
	}
	x := rng.Normal(1, 5, 64)
	y := l.Apply(x)

	// The same, three positions and then one at a time.
	cache := l.NewCache(1, 100)
	var parts []tensor.Tensor
	for _, part := range x.Split(1, 3, 1, 1) {
		var y tensor.Tensor
		y, cache = l.Decode(part, cache)
		parts = append(parts, y)
	}
	same, err := tensor.AllClose(tensor.Cat(1, parts...), y, 1e-5, 1e-5)
	fmt.Println(y.Shape(), cache.K.Shape(), cache.Len, same, err)
	// Output: [1 5 64] [1 2 100 8] 5 true <nil>
}

// Texts of different lengths: no query attends to the padding.
func ExamplePaddingMask() {
	l := nn.NewAttention(tensor.NewRNG(1), 16, 2)
	lengths := tensor.New([]int32{4, 2}, 2, 1)
	valid := tensor.Arange(4).Lt(lengths)
	fmt.Println(valid)
	y := l.Attend(tensor.Ones(2, 4, 16), tensor.Tensor{}, nn.PaddingMask(valid), nil)
	fmt.Println(y.Shape())
	// Output:
	// [[ true  true  true  true]
	//  [ true  true false false]]
	// [2 4 16]
}

func ExampleKVCache() {
	cache := nn.NewKVCache(1, 1, 3, 2)
	q := tensor.ZerosOf(tensor.Float32, 1, 1, 1, 2)
	for i := range 4 {
		err := tensor.Try(func() {
			var y tensor.Tensor
			v := tensor.FullOf(tensor.Float32, i, 1, 1, 1, 2)
			y, cache = cache.Attend(q, v, v) // all scores are 0: y is the mean of the values
			fmt.Println(cache.Len, y.Reshape(2))
		})
		if err != nil {
			fmt.Println("the fourth of three positions is an error")
		}
	}
	// Output:
	// 1 [0 0]
	// 2 [0.5 0.5]
	// 3 [1 1]
	// the fourth of three positions is an error
}

// A cache in int8 with scales takes little more than half of the memory of float16.
func ExampleCacheType() {
	rng := tensor.NewRNG(1)
	q, k, v := rng.Normal(1, 4, 6, 64), rng.Normal(1, 2, 6, 64), rng.Normal(1, 2, 6, 64)
	plain, _ := nn.NewKVCache(1, 2, 100, 64).Attend(q, k, v)
	for _, t := range []nn.CacheType{nn.CacheF16, nn.CacheQ8} {
		y, _ := nn.NewKVCache(1, 2, 100, 64).As(t).Attend(q, k, v)
		near, err := tensor.AllClose(y, plain, 0, 0.05)
		fmt.Println(t, t.Bytes(64), near, err)
	}
	// Output:
	// f16 128 true <nil>
	// q8_0 68 true <nil>
}

// Positions of a text eight times as long as the texts of the training.
func ExampleRotary() {
	plain := nn.Rotary{Base: 500000}
	long := nn.Rotary{Base: 500000, Scaling: nn.Llama3Scaling{Factor: 8, LowFreq: 1, HighFreq: 4, Length: 8192}}
	x := tensor.OnesOf(tensor.Float32, 1, 64)
	at := tensor.Arange(1000, 1001)
	fmt.Printf("%.3f\n", plain.Apply(x, at).Index(0, tensor.Span(28, 32)))
	fmt.Printf("%.3f\n", long.Apply(x, at).Index(0, tensor.Span(28, 32)))
	// Output:
	// [0.990 0.993 0.995 0.997]
	// [0.999 0.999 0.999 1.000]
}

func ExampleSinusoids() {
	fmt.Printf("%.2f\n", nn.Sinusoids(3, 4))
	// Output:
	// [[ 0.00  1.00  0.00  1.00]
	//  [ 0.84  0.54  0.01  1.00]
	//  [ 0.91 -0.42  0.02  1.00]]
}

func ExampleALiBi() {
	fmt.Println(nn.ALiBi(2, 2, 2, 0).At(0))
	// Output:
	// [[ 0.0000 -0.0625]
	//  [-0.0625  0.0000]]
}

// A layer of PyTorch's shape, with a mask for padding.
func ExampleTransformerEncoderLayer() {
	rng := tensor.NewRNG(1)
	l := nn.NewTransformerEncoderLayer(rng, 16, 2, 32)
	x := rng.Normal(2, 4, 16)
	valid := tensor.Arange(4).Lt(tensor.New([]int32{4, 2}, 2, 1))
	fmt.Println(l.ApplyMasked(x, nn.PaddingMask(valid), rng).Shape()) // with dropout
	// Output: [2 4 16]
}

// An encoder and a decoder: the text is decoded from position to position, and the memory is
// projected once.
func ExampleTransformerDecoder() {
	rng := tensor.NewRNG(1)
	encoder := nn.TransformerEncoder{Layers: []nn.TransformerEncoderLayer{nn.NewTransformerEncoderLayer(rng, 16, 2, 32)}}
	decoder := nn.TransformerDecoder{Layers: []nn.TransformerDecoderLayer{nn.NewTransformerDecoderLayer(rng, 16, 2, 32)}}
	memory := encoder.Apply(rng.Normal(1, 6, 16))
	caches := decoder.NewCaches(memory, 100)
	for range 3 {
		var y tensor.Tensor
		y, caches = decoder.Decode(rng.Normal(1, 1, 16), caches)
		fmt.Println(y.Shape(), caches[0].Self.Len)
	}
	// Output:
	// [1 1 16] 1
	// [1 1 16] 2
	// [1 1 16] 3
}
