package safetensors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// An index opens no file outside its folder, however the system lets one be named.
func TestShardOutside(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "sub", "folder")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(top, "sub", "m.safetensors")
	if err := Save(outside, map[string]tensor.Tensor{"a": tensor.Ones(1)}); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "m.safetensors.index.json")
	for _, shard := range []string{
		"../m.safetensors", "x/../../m.safetensors", "./../m.safetensors", filepath.ToSlash(outside), outside, "..", ".", "", "../folder/../m.safetensors",
		`..\m.safetensors`, `x\..\..\m.safetensors`, `x/..\../m.safetensors`, `\\?\` + outside, `\\.\` + outside, `\??\` + outside,
		outside[len(filepath.VolumeName(outside)):], filepath.VolumeName(outside) + "m.safetensors", `\\localhost\` + strings.Replace(outside, ":", "$", 1),
		"NUL", "con", "m.safetensors:stream", "C:m.safetensors", "CONIN$",
	} {
		text, err := json.Marshal(map[string]any{"weight_map": map[string]string{"a": shard}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = Open(index)
		if err == nil || runtime.GOOS == "windows" && shard != "." && !strings.Contains(err.Error(), "outside its folder") {
			t.Errorf("an index that names %q: %v, want an error", shard, err)
		}
	}
}
