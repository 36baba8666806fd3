package vector

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
)

// decodeBlock copies elements in a format, from position pos on, by loops. It decodes runs along memory,
// and moves them from scratch to where they belong if that is not contiguous.
func (l *load) decodeBlock(f *Activation, dst unsafe.Pointer, pos int, loops []loop) {
	if len(loops) == 0 {
		l.decode(f, dst, pos, 1, 1, 1)
		return
	}
	along := max(0, slices.IndexFunc(loops, func(x loop) bool { return x.From == 1 }))
	x := loops[along]
	if len(loops) == 1 && x.to == 1 {
		l.decode(f, dst, pos, x.n, 1, x.From)
		return
	}
	raw, runs := unsafe.Add(f.Mem, l.raw), 1
	for i := range loops {
		if i != along {
			runs *= loops[i].n
		}
	}
	for run := range runs {
		from, rest := pos, run
		for i := range loops {
			if i != along {
				from += rest % loops[i].n * loops[i].From
				rest /= loops[i].n
			}
		}
		l.decode(f, unsafe.Add(raw, run*x.n*l.size), from, x.n, 1, x.From)
	}
	stride := x.n
	for i := range loops {
		loops[i].From = 1
		if i != along {
			loops[i].From = stride
			stride *= loops[i].n
		}
	}
	transfer(l.size, dst, raw, loops)
}

// copyRun copies n elements from position pos on, stride apart, to memory where they are step apart.
func (l *load) copyRun(f *Activation, to unsafe.Pointer, pos, n, step, stride int) {
	if l.format != nil {
		l.decode(f, to, pos, n, step, stride)
		return
	}
	simd.Movers[l.size](to, unsafe.Add(f.Bind[l.arg].P, pos*l.size), 1, 0, 0, n, step, stride)
}

// decode is copyRun of elements in a format.
func (l *load) decode(f *Activation, to unsafe.Pointer, pos, n, step, stride int) {
	x, b := l.format, &f.Bind[l.arg]
	pos += int(b.Bits)
	out, held := unsafe.Slice((*float32)(to), (n-1)*step+1), math.MinInt
	for i := 0; i < n; {
		at := pos & (x.Len - 1)
		block := (pos - at) / x.Len // pos may be negative: views count from an offset in the buffer
		whole := 0
		if at == 0 && step == 1 && stride == 1 {
			whole = (n - i) / x.Len
		}
		if whole > 0 {
			l.decoder(unsafe.Pointer(&out[i]), unsafe.Add(b.P, block*x.Bytes), whole)
			i += whole * x.Len
			pos += whole * x.Len
			continue
		}
		if block != held {
			l.decoder(unsafe.Pointer(&f.block), unsafe.Add(b.P, block*x.Bytes), 1)
			held = block
		}
		for ; i < n && uint(at) < uint(x.Len); i++ {
			out[i*step] = f.block[at]
			at += stride
			pos += stride
		}
	}
}
