//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/tensorken/tensorken/internal/clock"
)

// failureText is the text of all failures.
var failureText = cString("a failure of the fake")

// fakeFunctions are the functions of the driver, by name; they return its codes.
var fakeFunctions = map[string]func(f *fake, a []uintptr) int{
	"Init":             func(*fake, []uintptr) int { return 0 },
	"DriverGetVersion": func(_ *fake, a []uintptr) int { return set[int32](a[0], 13000) },
	"GetErrorString":   func(_ *fake, a []uintptr) int { return set(a[1], failureText) },

	"DeviceGetCount": func(f *fake, a []uintptr) int { return set(a[0], int32(len(f.gpus))) },
	"DeviceGet":      func(_ *fake, a []uintptr) int { return set(a[0], int32(a[1])) },
	"DeviceGetName": func(_ *fake, a []uintptr) int {
		copy(bytesAt(a[0], a[1]), "Fake\x00")
		return 0
	},
	"DeviceTotalMem_v2": func(f *fake, a []uintptr) int { return set(a[0], f.gpus[a[1]].memory) },
	"DeviceGetAttribute": func(_ *fake, a []uintptr) int {
		if a[1] == attributeBus {
			return set(a[0], int32(a[2]))
		}
		return set(a[0], map[uintptr]int32{attributeUnits: 8, attributeMajor: 9, attributeMinor: 0, attributeShared: 227 << 10, attributeClock: 1.98e6, attributeMemoryClock: 0.2e6, attributeBusBits: 6144}[a[1]])
	},
	"DevicePrimaryCtxRetain": func(f *fake, a []uintptr) int {
		g := f.gpus[a[1]]
		if g.retained++; g.retained == 1 {
			g.context = f.next()
		}
		return set(a[0], g.context)
	},
	"DevicePrimaryCtxRelease_v2": func(f *fake, a []uintptr) int {
		g := f.gpus[a[0]]
		if g.retained--; g.retained == 0 {
			g.context = 0
		}
		return 0
	},
	"CtxSetCurrent": func(f *fake, a []uintptr) int {
		f.contexts[syscall.Gettid()] = a[0]
		if f.current() == nil {
			return invalidContext
		}
		return 0
	},

	"StreamCreate":             newFakeStream,
	"StreamCreateWithPriority": newFakeStream,
	"StreamDestroy_v2": func(f *fake, a []uintptr) int {
		f.streams[a[0]].run(never)
		delete(f.streams, a[0])
		return 0
	},
	"StreamSynchronize": func(f *fake, a []uintptr) int {
		f.streams[a[0]].run(never)
		return 0
	},

	"StreamWaitEvent": func(f *fake, a []uintptr) int {
		e := f.event(a[1])
		if e == nil {
			return invalidHandle
		}
		return f.push(a[0], e.wait) // the event as it is now
	},

	"DeviceGetDefaultMemPool": func(f *fake, a []uintptr) int { return set(a[0], f.gpus[a[1]].pool) },
	"MemPoolSetAttribute":     func(*fake, []uintptr) int { return 0 },
	"MemPoolTrimTo": func(f *fake, a []uintptr) int {
		for _, s := range f.streams {
			if s.gpu.pool == a[0] {
				clear(s.spare)
			}
		}
		return 0
	},
	"MemGetInfo_v2": func(f *fake, a []uintptr) int {
		g := f.current()
		set(a[1], g.memory)
		return set(a[0], g.memory-g.held)
	},
	"MemAllocAsync": (*fake).alloc,
	"MemFreeAsync":  (*fake).free,
	"MemHostAlloc": func(f *fake, a []uintptr) int {
		data := make([]byte, a[1])
		address := uintptr(unsafe.Pointer(&data[0]))
		f.pinned[address] = data
		return set(a[0], address)
	},
	"MemFreeHost": func(f *fake, a []uintptr) int {
		if f.pinned[a[0]] == nil {
			return invalidValue
		}
		delete(f.pinned, a[0])
		return 0
	},
	"MemcpyHtoDAsync_v2": func(f *fake, a []uintptr) int {
		if f.isIdle {
			return 0
		}
		dst, src := f.at(f.current(), a[0], a[2]), bytesAt(a[1], a[2])
		if dst == nil {
			return invalidValue
		}
		if !f.isPinned(a[1]) {
			src = slices.Clone(src)
		}
		return f.push(a[3], func() { copy(dst, src) })
	},
	"MemcpyDtoHAsync_v2": func(f *fake, a []uintptr) int {
		dst := bytesAt(a[0], a[2])
		if f.isIdle {
			clear(dst)
			return 0
		}
		src := f.at(f.current(), a[1], a[2])
		if src == nil {
			return invalidValue
		}
		code := f.push(a[3], func() { copy(dst, src) })
		if code == 0 && !f.isPinned(a[0]) {
			f.streams[a[3]].run(never)
		}
		return code
	},

	"EventCreate": func(f *fake, a []uintptr) int {
		h := f.next()
		f.events[h] = &fakeEvent{gpu: f.current(), done: true}
		return set(a[0], h)
	},
	"EventRecord": func(f *fake, a []uintptr) int {
		old, s := f.event(a[0]), f.stream(a[1])
		if old == nil || s == nil || old.gpu != s.gpu {
			return invalidHandle
		}
		e := &fakeEvent{gpu: s.gpu, stream: s}
		f.events[a[0]] = e
		return f.push(a[1], func() { e.done, e.at = true, clock.Now() })
	},
	"EventSynchronize": func(f *fake, a []uintptr) int {
		f.event(a[0]).wait()
		return 0
	},
	"EventElapsedTime": func(f *fake, a []uintptr) int {
		return set(a[0], float32(f.events[a[2]].at.Sub(f.events[a[1]].at).Seconds()*1e3))
	},
	"EventDestroy_v2": func(f *fake, a []uintptr) int {
		delete(f.events, a[0])
		return 0
	},

	"LinkCreate_v2": func(f *fake, a []uintptr) int {
		h := f.next()
		f.links[h] = ""
		return set(a[3], h)
	},
	"LinkAddData_v2": func(f *fake, a []uintptr) int {
		f.links[a[0]] = goString((*byte)(pointer(a[2])))
		if strings.Contains(f.links[a[0]], "faulty(") {
			return invalidPTX
		}
		return 0
	},
	"LinkComplete": func(f *fake, a []uintptr) int {
		f.code[a[0]] = encodeModule(f.links[a[0]])
		set(a[2], len(f.code[a[0]]))
		return set(a[1], &f.code[a[0]][0])
	},
	"LinkDestroy": func(f *fake, a []uintptr) int {
		delete(f.links, a[0])
		delete(f.code, a[0])
		return 0
	},
	"ModuleLoadData": func(f *fake, a []uintptr) int {
		if string(bytesAt(a[1], 4)) != "\x7fELF" {
			return invalidImage
		}
		h := f.next()
		f.modules[h] = decodeModule(a[1])
		return set(a[0], h)
	},
	"ModuleUnload": func(f *fake, a []uintptr) int {
		delete(f.modules, a[0])
		return 0
	},
	"ModuleGetFunction": (*fake).function,
	"FuncSetAttribute":  (*fake).share,
	"LaunchKernel":      (*fake).launchKernel,
}

// alloc allocates the block that the stream freed last, if one has the size.
func (f *fake) alloc(a []uintptr) int {
	n, s := int(a[1]), f.stream(a[2])
	if s.gpu.held+int64(n) > s.gpu.memory {
		return outOfMemory
	}
	s.gpu.held += int64(n)
	if f.isIdle {
		h := f.next()
		f.blocks[h] = &block{gpu: s.gpu, size: n}
		return set(a[0], h)
	}
	b := &block{s.gpu, make([]byte, n), n}
	if list := s.spare[n]; len(list) > 0 {
		b, s.spare[n] = list[len(list)-1], list[:len(list)-1]
	}
	address := uintptr(unsafe.Pointer(&b.data[0]))
	f.blocks[address] = b
	set(a[0], address)
	return f.push(a[2], func() { poison(b.data) })
}

// poison is for memory whose contents nobody may use.
func poison(data []byte) {
	for i := range data {
		data[i] = 0xff
	}
}

func (f *fake) free(a []uintptr) int {
	b, s := f.blocks[a[0]], f.stream(a[1])
	if b == nil || s == nil || b.gpu != s.gpu {
		return invalidValue
	}
	delete(f.blocks, a[0])
	b.gpu.held -= int64(b.size)
	if f.isIdle {
		return 0
	}
	s.spare[b.size] = append(s.spare[b.size], b)
	return f.push(a[1], func() { poison(b.data) })
}

// encodeModule returns the code of a text: a header of 72 bytes and the text.
func encodeModule(text string) []byte {
	code := append([]byte("\x7fELF"), make([]byte, 60)...)
	code = binary.LittleEndian.AppendUint64(code, uint64(len(text)))
	return append(code, text...)
}

func decodeModule(code uintptr) string {
	n := binary.LittleEndian.Uint64(bytesAt(code+64, 8))
	return string(bytesAt(code+72, uintptr(n)))
}

func newFakeStream(f *fake, a []uintptr) int {
	h := f.next()
	f.streams[h] = &fakeStream{gpu: f.current(), spare: map[int][]*block{}}
	return set(a[0], h)
}
