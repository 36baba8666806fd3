// Package models has published models: GPT-2, Llama and its relatives, BERT, ViT, CLIP, ResNet,
// Whisper and T5. They are read from folders in Hugging Face's layout, with config.json and
// safetensors, in one file or in shards. Read load.go first, then llama.go.
//
//	m, err := models.LoadLlama("Llama-3.2-1B")
//	logits := m.Apply(ids) // [batch time vocabulary]
//
// A model is a plain struct whose fields have the names of the file, so that it can be trained,
// saved, cast and moved as any other. Its tensors have the types of the file. Dropout is not part
// of it. Language models are read from files of llama.cpp, GGUF, too. A [Generator] continues texts by
// any [Decoder]. Tokenizers are in package tokenizer; the preparation of images and sound is not part
// of this package.
//
// config.json sets everything that the file does not hold. A setting that is not known or not
// supported is an error that names it; settings that cannot change results are skipped.
package models
