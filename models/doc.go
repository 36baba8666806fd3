// Package models has published models: GPT-2, Llama and its relatives, BERT, ViT, CLIP, ResNet,
// Whisper and T5. They are read from folders in Hugging Face's layout, with config.json and
// safetensors, in one file or in shards:
//
//	m, err := models.LoadLlama("Llama-3.2-1B")
//	logits := m.Apply(ids) // [batch time vocabulary]
//
// A model is a plain struct whose fields have the names of the file, so that it can be
// trained, saved, cast and moved as any other: tree.To(m, device), tree.Cast(m,
// tensor.Float32). Its tensors have the types of the file. Dropout is not part of it.
//
// config.json decides on everything that the file does not hold. A setting that is not known,
// or has a value that is not supported, is an error that names it; settings that cannot change
// results, such as settings of training, are skipped. So are buffers of the file that the
// model computes.
//
// A [Generator] continues texts by any [Decoder]. Tokenizers and the preparation of images and
// sound are not part of this package.
package models
