package proto

import "fmt"

// Bytes is the number of bytes of the elements in the file, however they are stored: an upper bound of
// a reader's allocation.
func (t *Tensor) Bytes() (n int64) {
	if t.Raw != nil {
		n = t.Raw.Len
	}
	for _, l := range t.Lists {
		if l.Section == nil {
			n++
		} else {
			n += l.Section.Len
		}
	}
	return n
}

// Numbers calls f with the numbers of the lists: bits of floats, or integers. It fails where there are
// not want.
func (t *Tensor) Numbers(want int, f func(i int, bits uint64)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*parseError)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	i := 0
	add := func(v uint64) {
		if i >= want {
			fail("it has more than %d elements", want)
		}
		f(i, v)
		i++
	}
	for _, l := range t.Lists {
		switch {
		case l.Section == nil:
			add(l.One)
		case l.Size == 0:
			l.Section.varints(add)
		default:
			m := message{r: &reader{src: l.Section.src, buf: make([]byte, 0, window)}, at: l.Section.at, end: l.Section.at + l.Section.Len}
			for m.at < m.end {
				add(m.fixed(l.Size))
			}
		}
	}
	if i != want {
		return fmt.Errorf("it has %d elements, want %d", i, want)
	}
	return nil
}
