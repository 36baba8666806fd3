package llm

import (
	"os"
	"path/filepath"
	"testing"
)

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
