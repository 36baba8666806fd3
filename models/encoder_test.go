package models_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

func TestViT(t *testing.T) {
	d := openDevice(t)
	m, io := load[*models.ViT](t, "vit", d), readIO(t, "vit")
	closeTo(t, "Apply(images)", m.Apply(io.In["pixel_values"].To(d)), io.Out["logits"])
}

func TestResNet(t *testing.T) {
	d := openDevice(t)
	for _, name := range []string{"resnet", "resnet_bottleneck", "resnet_bottleneck_early"} {
		m, io := load[*models.ResNet](t, name, d), readIO(t, name)
		closeTo(t, name+": Apply(images)", m.Apply(io.In["pixel_values"].To(d)), io.Out["logits"])
	}
}

func TestWhisper(t *testing.T) {
	d := openDevice(t)
	m, io := load[*models.Whisper](t, "whisper", d), readIO(t, "whisper")
	features, ids := io.In["input_features"].To(d), io.In["decoder_input_ids"].To(d)
	closeTo(t, "Apply(features, ids)", m.Apply(features, ids), io.Out["logits"])

	g := models.Generator{Model: m.NewDecoder(m.Encode(features)), MaxTokens: 9}
	prompt := texts(t, ids)[0]
	got, err := g.Generate([][]int32{prompt})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(prompt, got[0])
	next := m.Apply(features, tensor.New(all, 1, len(all)).To(d)).ArgMax(-1)
	if want := texts(t, next)[0][len(prompt)-1 : len(all)-1]; !slices.Equal(got[0], want) {
		t.Errorf("Generate returned %v, want %v", got[0], want)
	}
}

func TestCLIP(t *testing.T) {
	d := openDevice(t)
	m, io := load[*models.CLIP](t, "clip", d), readIO(t, "clip")
	images, ids, valid := io.In["pixel_values"].To(d), io.In["input_ids"].To(d), io.In["attention_mask"].To(d)
	closeTo(t, "EmbedTexts(ids, valid)", m.EmbedTexts(ids, valid), io.Out["text_embeds"])
	closeTo(t, "EmbedImages(images)", m.EmbedImages(images), io.Out["image_embeds"])
	closeTo(t, "Apply(images, ids, valid)", m.Apply(images, ids, valid), io.Out["logits_per_image"])
	m.EndID = 2 // the end is the greatest token
	closeTo(t, "EmbedTexts(ids, valid)", m.EmbedTexts(ids, valid), io.Out["text_embeds"])
}

// The sides of CLIP alone, with and without projections, equal transformers'.
func TestCLIPSides(t *testing.T) {
	d := openDevice(t)
	for name, out := range map[string]string{"clip_text": "text_embeds", "clip_text_plain": "pooled"} {
		m, io := load[*models.CLIPText](t, name, d), readIO(t, name)
		ids, valid := io.In["input_ids"].To(d), io.In["attention_mask"].To(d)
		closeTo(t, name+": EncodeTexts(ids, valid)", m.EncodeTexts(ids, valid), io.Out["last_hidden_state"])
		closeTo(t, name+": EmbedTexts(ids, valid)", m.EmbedTexts(ids, valid), io.Out[out])
	}
	for name, out := range map[string]string{"clip_vision": "image_embeds", "clip_vision_plain": "pooled"} {
		m, io := load[*models.CLIPVision](t, name, d), readIO(t, name)
		images := io.In["pixel_values"].To(d)
		closeTo(t, name+": EncodeImages(images)", m.EncodeImages(images), io.Out["last_hidden_state"])
		closeTo(t, name+": EmbedImages(images)", m.EmbedImages(images), io.Out[out])
	}
}

func TestT5(t *testing.T) {
	d := openDevice(t)
	for _, name := range []string{"t5", "t5_gated"} {
		t.Run(name, func(t *testing.T) {
			m, io := load[*models.T5](t, name, d), readIO(t, name)
			ids, valid := io.In["input_ids"].To(d), io.In["attention_mask"].To(d)
			memory := m.Encode(ids, valid)
			closeTo(t, "Encode(ids, valid)", memory, io.Out["encoder"])
			closeTo(t, "Apply(ids, valid, decoded)", m.Apply(ids, valid, io.In["decoder_input_ids"].To(d)), io.Out["logits"])

			want := texts(t, io.Out["greedy"])
			g := models.Generator{Model: m.NewDecoder(memory, valid), MaxTokens: len(want[0]) - 1}
			got, err := g.Generate([][]int32{{0}, {0}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i][1:]) {
					t.Errorf("Generate returned %v, want %v", got[i], want[i][1:])
				}
			}
		})
	}
}

// texts returns the rows of a tensor.
func texts(t *testing.T, x tensor.Tensor) [][]int32 {
	t.Helper()
	all, err := tensor.Data[int32](x.Cast(tensor.Int32))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(all, x.Dim(1)))
}
