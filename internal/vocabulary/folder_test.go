package vocabulary

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Templates are in a file, and others than the default in a folder beside it.
func TestFolderTemplates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"chat_template.jinja": "a", "additional_chat_templates/tool_use.jinja": "b", "additional_chat_templates/notes.txt": "c"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := FolderTemplates(dir)
	if want := map[string]string{"default": "a", "tool_use": "b"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
