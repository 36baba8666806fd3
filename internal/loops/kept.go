package loops

import (
	"slices"

	"github.com/tensorken/tensorken/driver"
)

// Kept is the buffers that a device keeps for kernels to come. No call reads another's data in
// them.
type Kept struct {
	Temps   []driver.Buffer // the temporaries of loops
	Scratch []driver.Buffer // between the passes of a kernel
}

// Reserve makes the buffers at least as large as some sizes in bytes. If it fails it has freed
// them all.
func (k *Kept) Reserve(temps, scratch []int, alloc func(bytes int) (driver.Buffer, error)) error {
	err := grow(&k.Temps, temps, alloc)
	if err == nil {
		err = grow(&k.Scratch, scratch, alloc)
	}
	if err != nil {
		k.Free()
	}
	return err
}

// grow frees a buffer before it allocates a larger one.
func grow(list *[]driver.Buffer, sizes []int, alloc func(bytes int) (driver.Buffer, error)) error {
	for i, n := range sizes {
		if i < len(*list) {
			if (*list)[i].Size() >= n {
				continue
			}
			(*list)[i].Free()
			*list = slices.Delete(*list, i, i+1)
		}
		b, err := alloc(n)
		if err != nil {
			return err
		}
		*list = slices.Insert(*list, i, b)
	}
	return nil
}

// Free frees the buffers.
func (k *Kept) Free() {
	for _, list := range [][]driver.Buffer{k.Temps, k.Scratch} {
		for _, b := range list {
			b.Free()
		}
	}
	*k = Kept{}
}

// Enlarged returns sizes that are each at least as large as another list's.
func Enlarged(sizes, least []int) []int {
	for i, n := range least {
		if i == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[i] = max(sizes[i], n)
	}
	return sizes
}
