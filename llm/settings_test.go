package llm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Embeddings by damaged weights are an error, whose text is counted.
func TestEmbeddingsOfNaN(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/embed")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "model.safetensors")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)-4000:], bytes.Repeat([]byte{0xff}, 4000))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Embed([]string{"a cat"}); err == nil || !strings.Contains(err.Error(), "the embedding of text 0 has NaN") {
		t.Error(err)
	}
}

// The decoder of a model of images and text has its settings in text_config.
func TestTextSettings(t *testing.T) {
	dir := t.TempDir()
	text := `{"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {"max_position_embeddings": 64, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := readSettings(folder(dir)); err != nil || s != (settings{Context: 64, Rows: 2 * 3 * 2, HeadWidth: 8, Type: "bfloat16"}) {
		t.Errorf("%+v, %v", s, err)
	}
}
