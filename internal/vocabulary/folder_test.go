package vocabulary

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Templates are in a file, and others than the default in a folder beside it; without these files a setting has one.
func TestFolderTemplates(t *testing.T) {
	const setting = `{"chat_template": "d"}`
	for _, c := range []struct{ files, want map[string]string }{
		{map[string]string{"chat_template.jinja": "a", "additional_chat_templates/tool-use.jinja": "b", "additional_chat_templates/notes.txt": "c", "tokenizer_config.json": setting},
			map[string]string{"default": "a", "tool-use": "b"}},
		{map[string]string{"additional_chat_templates/tool_use.jinja": "b", "tokenizer_config.json": setting}, map[string]string{"tool_use": "b"}},
		{map[string]string{"additional_chat_templates/.jinja": "b", "tokenizer_config.json": setting}, map[string]string{"default": "d"}},
		{map[string]string{"additional_chat_templates": "a file", "tokenizer_config.json": setting}, map[string]string{"default": "d"}},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := FolderTemplates(dir); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.files, got, err, c.want)
		}
	}
}
