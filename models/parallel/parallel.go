// Package parallel divides the weights of a decoder over ranks, which compute each layer together: tensor
// parallelism. A model that one GPU cannot hold runs on several, and each token reads 1/n of the weights on each
// of n.
//
// Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
// Parallelism", 2019.
package parallel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// divided has the layers whose weights are divided: by their outputs, the rows of a weight, which are so many tables
// below each other, or by their inputs, the columns, for tables of 0. The results of the latter are summed.
var divided = map[string]int{
	"q_proj": 1, "k_proj": 1, "v_proj": 1, "qkv_proj": 3, "o_proj": 0,
	"gate_proj": 1, "up_proj": 1, "gate_up_proj": 2, "down_proj": 0,
	"w1": 1, "w3": 1, "w2": 0,
}

// Divide returns this rank's part of a decoder. It has the rank's heads of the attention and its part of the inner
// width of each network, of experts too; embeddings, norms and the head are whole. Each layer sums over the ranks
// twice. All ranks call it with the same model, and the part with the same tokens: then the results are equal on
// all, so that each chooses the same tokens, if it draws by the same seed. Its tensors are not computed: the part is
// read from a mapped file by [tree.To]. It has no derivatives: parts generate, and do not learn.
//
// The ranks must divide the heads, also of keys, and the inner width; of weights in blocks, in whole blocks.
func Divide(g *dist.Group, m *models.Llama) (*models.Llama, error) {
	n := g.Size()
	part := *m
	part.Model.Layers = nil
	part.Sum = grad.Custom(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Sum) }, func(_, _, _ tensor.Tensor) tensor.Tensor {
		panic("parallel: a part of a model has no derivatives: train whole models, with memory divided by optim.Optimizer.ZeRO")
	})
	for i, l := range m.Model.Layers {
		a := &l.SelfAttn.Settings
		heads, keys := a.Heads, a.KVHeads
		if keys == 0 {
			keys = heads
		}
		if heads%n != 0 || keys%n != 0 {
			return nil, fmt.Errorf("parallel: layer %d has %d heads and %d of keys, which %d ranks do not divide: start a number that divides both", i, heads, keys, n)
		}
		a.Heads, a.KVHeads = heads/n, keys/n
		var err error
		l = tree.Map(l, func(name string, t tensor.Tensor) tensor.Tensor {
			p, failed := divide(g, name, t, heads, keys)
			if failed != nil && err == nil {
				err = fmt.Errorf("parallel: layer %d, %s: %w", i, name, failed)
			}
			return p
		})
		if err != nil {
			return nil, err
		}
		part.Model.Layers = append(part.Model.Layers, l)
	}
	return &part, nil
}

// divide returns the rank's part of a layer's tensor.
func divide(g *dist.Group, name string, t tensor.Tensor, heads, keys int) (_ tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	path := strings.Split(name, ".")
	kind, last := path[max(len(path)-2, 0)], path[len(path)-1]
	tables, ok := divided[kind]
	switch {
	case !ok, tables == 0 && last == "bias" && g.Rank() == 0: // which is added once
		return t, nil
	case tables == 0 && last == "bias":
		return tensor.Tensor{}, nil
	case tables == 0:
		return share(g, t, 1, []int{1})
	}
	rows := slices.Repeat([]int{1}, tables)
	if kind == "qkv_proj" {
		rows = []int{heads, keys, keys}
	}
	return share(g, t, 0, rows)
}

// share returns the rank's share of each table along an axis. The tables' lengths are in the ratio of sizes.
func share(g *dist.Group, t tensor.Tensor, axis int, sizes []int) (tensor.Tensor, error) {
	units := 0
	for _, s := range sizes {
		units += s
	}
	for _, s := range sizes {
		if t.Dim(axis)/units*s%g.Size() != 0 {
			return t, fmt.Errorf("%d ranks do not divide axis %d of %v", g.Size(), axis, t.Shape())
		}
	}
	return tensor.Internal.MoveBlocks(graph.Token{}, "parallel.Divide", t, func(t tensor.Tensor) tensor.Tensor {
		var parts []tensor.Tensor
		unit, at := t.Dim(axis)/units, 0
		for _, s := range sizes {
			n := s * unit / g.Size()
			parts = append(parts, t.Slice(axis, at+g.Rank()*n, at+(g.Rank()+1)*n))
			at += s * unit
		}
		return tensor.Cat(axis, parts...)
	}), nil
}
