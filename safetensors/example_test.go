package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

type Linear struct{ Weight, Bias tensor.Tensor }

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	model := []Linear{{Weight: tensor.Eye(2), Bias: tensor.Ones(2)}, {Weight: tensor.Ones(1, 2)}}
	if err := safetensors.SaveMeta(path, model, map[string]string{"epoch": "3"}); err != nil {
		panic(err)
	}

	var loaded []Linear // as long as the file says
	if err := safetensors.Load(path, &loaded); err != nil {
		panic(err)
	}
	fmt.Println(len(loaded), loaded[0].Bias, loaded[1].Weight, loaded[1].Bias)
	// Output: 2 [1 1] [1 1] <absent>
}

func ExampleFile_Load() {
	f, err := safetensors.Open("testdata/cnn.safetensors")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	var net struct{ Out Linear }
	err = f.Load(&net, func(name string) string {
		if field, ok := strings.CutPrefix(name, "8."); ok {
			return "out." + field
		}
		return "" // skip the rest
	})
	fmt.Println(net.Out.Weight.Shape(), net.Out.Bias.Shape(), err)
	// Output: [10 64] [10] <nil>
}
