package safetensors

// Load fills a tree from a file: it is [Open] and [File.Load] without rename.
func Load(path string, tree any) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(tree, nil)
}

// Load fills in place the tree that a pointer points to, or a map of pointers. File
// and tree must have the same tensors, equal in shape and type. An absent tensor, an
// empty slice or map and a nil pointer take the file's tensors, so a zero struct can be
// loaded. If Load fails, the tree is unchanged.
//
// A pointer that occurs twice in the tree is saved and loaded once, under its first
// name. Load cannot know which pointers of a zero struct are to be equal: the first
// points to a new value and the others stay nil. To load such a model, construct it as
// before it was saved, or set the other pointers after Load.
//
// rename, if not nil, returns the name in the tree of a tensor in the file; "" skips
// the tensor.
func (f *File) Load(tree any, rename func(name string) string) error {
	if err := f.tensors.Load(tree, rename); err != nil {
		return fail(f.path, err)
	}
	return nil
}
