package wav_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

func Example() {
	const rate = 8000
	tone := tensor.Arange(rate).Cast(tensor.Float32).Mul(2 * math.Pi * 440 / rate).Sin()
	var file bytes.Buffer // or wav.Save("tone.wav", tone, rate, nil)
	if err := wav.Encode(&file, tone, rate, nil); err != nil {
		panic(err)
	}
	x, hz, err := wav.Decode(&file) // or wav.Load("tone.wav")
	fmt.Println(x.Shape(), hz, err)
	// Output: [1 8000] 8000 <nil>
}
