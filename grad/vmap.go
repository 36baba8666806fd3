package grad

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// Vmap returns the function that applies f, which is written for one example, to all
// examples of a batch at once. They lie along the first axis of every tensor of its
// argument. The results have them along the first axis. Captured tensors are shared by all
// examples. It nests, and composes with everything else in this package:
// Vmap(grad.Of(loss)) gives the gradients of each example.
//
// Inside of f a tensor stands for all examples, so its value cannot be looked
// at. An RNG draws the same for all of them; for others, pass keys of
// [tensor.RNG.Keys] and make an RNG of each by [tensor.KeyRNG].
func Vmap[P, R any](f func(P) R) func(P) R {
	needFuncs("grad.Vmap", f)
	return vmap("grad.Vmap", f, 0, 0)
}

// VmapAxes is [Vmap] with the examples along axis in of every tensor of the argument, and
// along axis out of every tensor of the result. Negative axes count from the end.
func VmapAxes[P, R any](f func(P) R, in, out int) func(P) R {
	needFuncs("grad.VmapAxes", f)
	return vmap("grad.VmapAxes", f, in, out)
}

func vmap[P, R any](op string, f func(P) R, in, out int) func(P) R {
	return func(p P) R {
		leaves, tree := flattenNodes(op, p)
		size := -1
		batched := make([]bool, len(leaves))
		for i, n := range leaves {
			if n == nil {
				continue
			}
			a, err := shape.AxisOf(in, len(n.Shape))
			if err != nil {
				misuse(op, fmt.Sprintf("it has no axis %d along which the examples lie", in), n)
			}
			if size >= 0 && n.Shape[a] != size {
				misuse(op, fmt.Sprintf("it has %d examples along axis %d, another tensor of the argument %d", n.Shape[a], in, size), n)
			}
			size = n.Shape[a]
			leaves[i], batched[i] = moveAxis(n, a, 0), true
		}
		if size < 0 {
			misuse(op, "there is no tensor in the argument", fmt.Sprintf("a %T", p))
		}
		var result R
		results := overExamples(size, leaves, batched, func(examples []*graph.Node) []*graph.Node {
			result = f(tree(examples))
			return leafNodes(op, result)
		})
		for i, n := range results {
			if n == nil {
				continue
			}
			a, err := shape.AxisOf(out, len(n.Shape))
			if err != nil {
				misuse(op, fmt.Sprintf("the result has no axis %d for the examples", out), n)
			}
			results[i] = moveAxis(n, 0, a)
		}
		return rebuild(op, result, tensors(results))
	}
}

// moveAxis returns x with an axis at another place.
func moveAxis(x *graph.Node, from, to int) *graph.Node {
	order := slices.Delete(shape.All(len(x.Shape)), from, from+1)
	return graph.Permute(x, slices.Insert(order, to, from))
}
