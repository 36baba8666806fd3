package sample

// A heap has indices, the one that is first at its root.
type heap struct {
	at    []int32
	first func(a, b int32) bool
}

func (h *heap) order() {
	for i := len(h.at)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// down moves the index at i to its place.
func (h *heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.at) {
			return
		}
		if child+1 < len(h.at) && h.first(h.at[child+1], h.at[child]) {
			child++
		}
		if !h.first(h.at[child], h.at[i]) {
			return
		}
		h.at[i], h.at[child] = h.at[child], h.at[i]
		i = child
	}
}

// pop removes the first index.
func (h *heap) pop() int32 {
	root, end := h.at[0], len(h.at)-1
	h.at[0] = h.at[end]
	h.at = h.at[:end]
	h.down(0)
	return root
}
