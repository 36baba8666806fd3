//go:build !js

package llm

import (
	"context"

	"github.com/tensorken/tensorken/llm/hub"
)

// fetch returns the folder with the model of a name.
func fetch(name string, o Options) (string, error) {
	return hub.Fetch(context.Background(), name, &hub.Options{Server: o.Hub, Cache: o.Cache, Progress: o.Progress})
}
