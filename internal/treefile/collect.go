package treefile

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Collect returns the tensors of a tree by name, without absent ones. A tree without
// tensors is an error.
func Collect(tree any) (map[string]tensor.Tensor, error) {
	leaves, err := pytree.Flatten[tensor.Tensor](tree)
	if err != nil {
		return nil, err
	}
	tensors := map[string]tensor.Tensor{}
	for _, l := range leaves {
		if l.Value.IsValid() {
			tensors[l.Name] = l.Value
		}
	}
	if len(tensors) == 0 {
		if tree == nil || !pytree.IsTree[tensor.Tensor](tree) {
			return nil, fmt.Errorf("no tensor to save: %T is not made of tensors: want a Tensor, or a struct, slice, map or pointer made of them", tree)
		}
		return nil, fmt.Errorf("no tensor to save: the %T is empty, or all its tensors are absent: construct the model before saving it", tree)
	}
	return tensors, nil
}
