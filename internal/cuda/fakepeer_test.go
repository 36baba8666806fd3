//go:build linux && (amd64 || arm64)

package cuda

import (
	"slices"
	"testing"
	"unsafe"
)

// The driver defines how long the description is.
func TestAccessDesc(t *testing.T) {
	if unsafe.Sizeof(accessDesc{}) != 12 {
		t.Error("accessDesc has another size than CUmemAccessDesc")
	}
}

// fakePeerFunctions are functions of the driver for several GPUs.
var fakePeerFunctions = map[string]func(f *fake, a []uintptr) int{
	"DeviceCanAccessPeer": func(f *fake, a []uintptr) int {
		can := int32(1)
		if f.isApart || a[1] == a[2] {
			can = 0
		}
		return set(a[0], can)
	},
	"MemPoolSetAccess": func(f *fake, a []uintptr) int {
		i := slices.IndexFunc(f.gpus, func(g *fakeGPU) bool { return g.pool == a[0] })
		access := (*accessDesc)(pointer(a[1]))
		if i < 0 || a[2] != 1 || access.location != 1 || access.flags != 3 || f.isApart {
			return invalidValue
		}
		f.gpus[i].readers = append(f.gpus[i].readers, access.id)
		return 0
	},
	"MemcpyPeerAsync": func(f *fake, a []uintptr) int {
		to, from := f.contextGPU(a[1]), f.contextGPU(a[3])
		if to == nil || from == nil {
			return invalidContext
		}
		dst, src := f.at(to, a[0], a[4]), f.at(from, a[2], a[4])
		if dst == nil || src == nil || to == from {
			return invalidValue
		}
		if slices.Contains(from.readers, int32(slices.Index(f.gpus, to))) {
			f.direct++
		}
		return f.push(a[5], func() { copy(dst, src) })
	},
	"MemcpyDtoDAsync_v2": func(f *fake, a []uintptr) int {
		dst, src := f.at(f.current(), a[0], a[2]), f.at(f.current(), a[1], a[2])
		if dst == nil || src == nil {
			return invalidValue
		}
		return f.push(a[3], func() { copy(dst, src) })
	},
	"EventQuery": func(f *fake, a []uintptr) int {
		switch e := f.event(a[0]); {
		case e == nil:
			return invalidHandle
		case !e.done:
			return notReady
		}
		return 0
	},
}
