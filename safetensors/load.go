package safetensors

import "github.com/tensorken/tensorken/internal/treefile"

// Load fills a tree from a file: it is [Open] and [File.Load] without rename.
func Load(path string, tree any) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(tree, nil)
}

// Load fills in place the tree that a pointer points to, or a map of pointers. If it
// fails, the tree is unchanged.
//
// An absent tensor, an empty slice or map and a nil pointer take the file's tensors, so a
// zero struct can be loaded. All else in the tree stays: set settings that the file does
// not hold, such as a norm's Eps, a convolution's Stride or a number of heads, before Load.
// A tensor that was set is replaced by the file's, which must be equal in shape and type.
//
// The error lists the tensors of the file for which the tree has no field, and the fields
// that the file lacks. Two kinds of fields may be missing:
//   - One tagged `tensor:",optional"`, as Bias of an nn.Linear is, stays absent. If such a field
//     has several tensors, the file has either none of them or all that are not optional.
//   - One that was set before keeps its tensor: a new head on a trained body, a mask.
//
// A pointer that occurs twice in the tree is saved and loaded once, under its first
// name. Load cannot know which pointers of a zero struct are to be equal: the first
// points to a new value and the others stay nil. To load such a model, construct it as
// before it was saved, or set the other pointers after Load.
//
// rename, if not nil, returns the name in the tree of a tensor in the file; "" skips
// the tensor, and [Transposed] swaps its last two axes.
func (f *File) Load(tree any, rename func(name string) string) error {
	if err := f.tensors.Load(tree, rename); err != nil {
		return fail(f.path, err)
	}
	return nil
}

// Transposed returns a name for the rename function of [File.Load] to return: the tensor
// is loaded under this name with its last two axes swapped. GPT-2's files have weights
// [in out], and an nn.Linear takes [out in]:
//
//	func(name string) string {
//		if strings.HasSuffix(name, ".c_fc.weight") {
//			return safetensors.Transposed(name)
//		}
//		return name
//	}
//
// Nothing is copied. A name that is marked twice is as before, and "" stays "".
func Transposed(name string) string { return treefile.Transposed(name) }
