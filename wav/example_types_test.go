package wav_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

// More bits keep more of a sample.
func ExampleEncoding() {
	dir, err := os.MkdirTemp("", "wav")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "third.wav")
	x := tensor.Full(1.0/3, 2)
	for _, e := range []wav.Encoding{wav.PCM8, wav.PCM16, wav.Float32} {
		if err := wav.Save(path, x, 8000, &wav.Options{Encoding: e}); err != nil {
			panic(err)
		}
		y, rate, err := wav.Load(path)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v %.7f %d\n", e, y.At(0).At(0), rate)
	}
	// Output:
	// PCM8 0.3359375 8000
	// PCM16 0.3333435 8000
	// Float32 0.3333333 8000
}
