package models_test

import (
	"fmt"
	"log"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

// must returns a model that was read.
func must[M any](m M, err error) M {
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleLoadGPT2() {
	var m *models.GPT2 = must(models.LoadGPT2("testdata/gpt2_gen"))
	fmt.Println(m.Apply(tensor.New([]int32{5, 6, 7}, 1, 3)).Shape(), m.Positions())
	// Output: [1 3 96] 64
}

// Any Decoder continues texts token by token, with a cache of the keys and values so far.
func ExampleDecoder() {
	var d models.Decoder = must(models.LoadLlama("testdata/llama_gqa"))
	var c models.Cache = d.NewCache(1, 8)
	x, c := d.Decode(tensor.New([]int32{5, 6, 7}, 1, 3), c)
	next := d.Logits(x.Select(1, -1)).ArgMax(-1)
	fmt.Println(next.Shape(), c.Layer(0).Position(), c.Capacity())
	// Output: [1] 3 8
}

// The three ways to one embedding of a text.
func ExamplePooling() {
	x := tensor.From([][][]float32{{{1}, {5}, {9}}})
	valid := tensor.New([]bool{true, true, false}, 1, 3)
	for _, p := range []models.Pooling{models.MeanPooling, models.CLSPooling, models.MaxPooling} {
		fmt.Println(p.Apply(x, valid))
	}
	// Output:
	// [[3]]
	// [[1]]
	// [[5]]
}

// Similarities of two images and two texts.
func ExampleLoadCLIP() {
	var m *models.CLIP = must(models.LoadCLIP("testdata/clip"))
	images := tensor.Zeros(2, 3, 12, 12)
	ids := tensor.New([]int32{1, 5, 2, 1, 6, 2}, 2, 3)
	fmt.Println(m.Apply(images, ids, tensor.Tensor{}).Shape())
	// Output: [2 2]
}

// The sides of CLIP alone.
func ExampleLoadCLIPText() {
	var text *models.CLIPText = must(models.LoadCLIPText("testdata/clip_text"))
	var vision *models.CLIPVision = must(models.LoadCLIPVision("testdata/clip_vision"))
	fmt.Println(text.EmbedTexts(tensor.New([]int32{1, 5, 2}, 1, 3), tensor.Tensor{}).Shape())
	fmt.Println(vision.EmbedImages(tensor.Zeros(1, 3, 20, 20)).Shape())
	// Output:
	// [1 16]
	// [1 16]
}

func ExampleLoadViT() {
	var m *models.ViT = must(models.LoadViT("testdata/vit"))
	fmt.Println(m.Apply(tensor.Zeros(1, 3, 16, 16)).Shape())
	// Output: [1 7]
}

func ExampleLoadResNet() {
	var m *models.ResNet = must(models.LoadResNet("testdata/resnet"))
	fmt.Println(m.Apply(tensor.Zeros(1, 3, 32, 32)).Shape())
	// Output: [1 7]
}

// A translation: the text is encoded once, and a decoder continues its translation.
func ExampleLoadT5() {
	var m *models.T5 = must(models.LoadT5("testdata/t5"))
	ids := tensor.New([]int32{5, 6, 7, 1}, 1, 4)
	var d *models.T5Decoder = m.NewDecoder(m.Encode(ids, tensor.Tensor{}), tensor.Tensor{})
	g := models.Generator{Model: d, MaxTokens: 3}
	texts, err := g.Generate([][]int32{{0}})
	fmt.Println(len(texts[0]), err)
	// Output: 3 <nil>
}

// Speech: features of sound are encoded once, and a decoder writes the text.
func ExampleLoadWhisper() {
	var m *models.Whisper = must(models.LoadWhisper("testdata/whisper"))
	features := tensor.Zeros(1, m.Model.Encoder.Conv1.Weight.Dim(1), 2*m.Model.Encoder.EmbedPositions.Weight.Dim(0))
	var d *models.WhisperDecoder = m.NewDecoder(m.Encode(features))
	g := models.Generator{Model: d, MaxTokens: 3}
	texts, err := g.Generate([][]int32{{1}})
	fmt.Println(len(texts[0]) <= 3, err)
	// Output: true <nil>
}
