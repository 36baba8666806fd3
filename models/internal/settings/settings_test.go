package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/tensorken/tensorken/models/internal/settings"
)

func TestRead(t *testing.T) {
	type all struct {
		Width  int     `config:"hidden_size,positive,required"`
		Layers []int   `config:"depths,count"`
		Eps    float64 `config:"layer_norm_eps,epsilon"`
		Window int     `config:"window_size" of:"a b"`
	}
	for text, want := range map[string]string{
		`{"hidden_size": 8, "depths": [1, 2], "layer_norm_eps": null, "use_cache": 1, "use_mrope": false}`: "",
		`{"depths": [1]}`:                                  "there is no hidden_size",
		`{"hidden_size": 0}`:                               "hidden_size is 0: want at least 1",
		`{"hidden_size": 8, "depths": [2, 2]}`:             "depths is [2, 2]: the file has only 3 tensors",
		`{"hidden_size": 8, "layer_norm_eps": 2}`:          "layer_norm_eps is 2: want at most 1",
		`{"hidden_size": 8, "window_size": 2}`:             `the setting "window_size" is not known for c, and may change results`,
		`{"hidden_size": 8, "causal": true}`:               "causal is true: only false is supported",
		`{"hidden_size": 8, "interpolate_factor": 1.0}`:    "",
		`{"hidden_size": 8, "interpolate_factor": 2}`:      "interpolate_factor is 2: only 1 is supported",
		`{"hidden_size": 5000000000}`:                      "hidden_size is 5000000000: want at most 2.147483647e+09",
		`{"hidden_size": 8, "depths": [1], "unknown": {}}`: `the setting "unknown" is not known for c, and may change results`,
	} {
		var raw map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		s, got := all{Eps: 1e-5}, ""
		if err := settings.Read(&s, raw, "c", 3); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if want == "" && s.Width != 8 {
			t.Errorf("%s: %+v", text, s)
		}
	}
}
