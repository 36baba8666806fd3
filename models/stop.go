package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/models/internal/settings"
)

// StopTokens returns the tokens that end a text of the model in a folder, for [Generator.Stop]:
// eos_token_id of its generation_config.json or, without that, of its config.json; none if
// neither has it. Of a GGUF file they are the ones that its metadata names.
func StopTokens(dir string) ([]int32, error) {
	if llamacpp.IsGGUF(dir) {
		c, err := readConfig(dir)
		if err != nil {
			return nil, err
		}
		c.close()
		var ids []int32
		if raw, ok := c.raw["eos_token_id"]; ok {
			err = files.JSON(raw, &ids)
		}
		return ids, err
	}
	for _, name := range []string{"generation_config.json", "config.json"} {
		path := filepath.Join(dir, name)
		var c struct {
			EOS json.RawMessage `json:"eos_token_id"`
		}
		if err := readJSON(path, &c); errors.Is(err, fs.ErrNotExist) && name != "config.json" {
			continue
		} else if err != nil {
			return nil, err
		}
		if len(c.EOS) == 0 || string(c.EOS) == "null" {
			continue
		}
		var id int32
		if files.JSON(c.EOS, &id) == nil {
			return []int32{id}, nil
		}
		var ids []int32
		if err := files.JSON(c.EOS, &ids); err != nil {
			return nil, fmt.Errorf("models: %s: eos_token_id is %s: want a token or a list", files.Name(path), settings.Shown(c.EOS))
		}
		return ids, nil
	}
	return nil, nil
}
