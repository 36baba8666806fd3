package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

type Linear struct {
	Weight tensor.Tensor
	Bias   tensor.Tensor `tensor:",optional"` // a file that lacks it is no error
}

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
	// Output: 2 [1 1] [[1 1]] <absent>
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

// Settings are not in the file: set them before Load, which keeps them. The file's weight is
// [in out], as GPT-2's are, and the layer's [out in].
func ExampleTransposed() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	err = safetensors.Save(path, map[string]tensor.Tensor{
		"c_fc.weight": tensor.Ones(2, 3), "c_fc.bias": tensor.Ones(3), "ln.weight": tensor.Ones(3), "ln.bias": tensor.Zeros(3),
	})
	if err != nil {
		panic(err)
	}

	f, err := safetensors.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	net := struct {
		CFc nn.Linear
		LN  nn.LayerNorm
	}{LN: nn.LayerNorm{Eps: 1e-12}}
	err = f.Load(&net, func(name string) string {
		if name == "c_fc.weight" {
			return safetensors.Transposed(name)
		}
		return name
	})
	fmt.Println(net.CFc.Weight.Shape(), net.LN.Eps, err)

	var part struct{ CFc, CProj nn.Linear }
	err = f.Load(&part, nil)
	_, what, _ := strings.Cut(err.Error(), "it lacks ")
	fmt.Println(what[:strings.Index(what, " of a")])
	// Output:
	// [3 2] 1e-12 <nil>
	// "c_proj.weight"
}
