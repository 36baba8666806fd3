package pytree

import (
	"bytes"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/internal/sorts"
)

// A compiler makes the programs of a type and of the types in it.
type compiler struct {
	*Signer
	done map[programKey]*program
}

// compile returns the program that signs values of type t in a region: it makes one unless there is
// one already.
func (c compiler) compile(t reflect.Type, in region) *program {
	key := programKey{t, in}
	if prog, ok := c.programs.Load(key); ok {
		return prog.(*program)
	}
	if prog := c.done[key]; prog != nil {
		return prog
	}
	prog := &program{size: t.Size()}
	c.done[key] = prog
	isLeaf := slices.ContainsFunc(c.leaves, func(l LeafType) bool { return l.typ == t })
	switch {
	case isLeaf && in == owned, t == mutex, t == rwMutex, t.Size() == 0:
		prog.void = true
		return prog
	case isLeaf:
		in = shallow
	}
	switch t.Kind() {
	case reflect.Struct:
		c.structure(prog, t, in)
	case reflect.Array:
		c.array(prog, t, in)
	case reflect.Slice:
		prog.run = c.slice(t, in)
	case reflect.Map:
		prog.run = c.mapping(t, in)
	case reflect.Pointer:
		prog.run = c.pointer(t, in)
	case reflect.Interface:
		prog.run = c.dynamic(t, in)
	case reflect.String:
		prog.run = func(w *signing, p unsafe.Pointer) {
			s := *(*string)(p)
			w.number(uint64(len(s)))
			w.memory(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
		}
	case reflect.Func:
		prog.run = func(w *signing, p unsafe.Pointer) { w.funcs = append(w.funcs, *(*unsafe.Pointer)(p)) }
	case reflect.Chan, reflect.UnsafePointer:
		prog.run = func(w *signing, p unsafe.Pointer) {
			w.ref(*(*unsafe.Pointer)(p))
			w.opaque = w.opaque || *(*unsafe.Pointer)(p) != nil
		}
	default:
		prog.plain = true
	}
	return prog
}

var (
	mutex   = reflect.TypeFor[sync.Mutex]()
	rwMutex = reflect.TypeFor[sync.RWMutex]()
)

// structure signs the fields of a struct one by one, and plain fields that are adjacent as one.
func (c compiler) structure(prog *program, t reflect.Type, in region) {
	type part struct {
		at uintptr
		*program
	}
	var parts []part
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		in := in
		if in == owned && (f.Tag.Get("tensor") == "-" || !(&builder{}).walkable(f)) {
			in = kept
		}
		field := c.compile(f.Type, in)
		if n := len(parts); n > 0 && field.plain && parts[n-1].plain && parts[n-1].at+parts[n-1].size == f.Offset {
			parts[n-1].program = &program{size: parts[n-1].size + field.size, plain: true}
			continue
		}
		if !field.void {
			parts = append(parts, part{f.Offset, field})
		}
	}
	if prog.void = len(parts) == 0; prog.void {
		return
	}
	if prog.plain = parts[0].plain && parts[0].size == t.Size(); prog.plain {
		return
	}
	prog.run = func(w *signing, p unsafe.Pointer) {
		for _, f := range parts {
			f.do(w, unsafe.Add(p, f.at))
		}
	}
}

// array signs the elements of an array.
func (c compiler) array(prog *program, t reflect.Type, in region) {
	elem, n := c.compile(t.Elem(), in), t.Len()
	prog.plain, prog.void = elem.plain, elem.void
	if !prog.plain && !prog.void {
		prog.run = func(w *signing, p unsafe.Pointer) { elem.all(w, p, n) }
	}
}

// all signs n values that follow each other.
func (g *program) all(w *signing, p unsafe.Pointer, n int) {
	if g.plain {
		w.memory(p, uintptr(n)*g.size)
		return
	}
	for i := 0; i < n && !g.void && !w.full; i++ {
		g.do(w, unsafe.Add(p, uintptr(i)*g.size))
	}
}

// slice signs a slice. It signs a kept slice up to its capacity, because f could reslice it.
func (c compiler) slice(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	elem := c.compile(t.Elem(), in)
	return func(w *signing, p unsafe.Pointer) {
		s := *(*[]struct{})(p) // of another type, for its pointer, length and capacity alone
		data, n := unsafe.Pointer(unsafe.SliceData(s)), len(s)
		if data == nil {
			w.number(0)
			return
		}
		w.number(uint64(n) + 1)
		switch {
		case in == shallow:
			w.ref(data)
			return
		case in == kept && cap(s) > 0:
			w.kept = append(w.kept, data)
			n = cap(s)
			w.number(uint64(n))
		}
		elem.all(w, data, n)
	}
}

// pointer signs a pointer and its target. It does not read a target that has a mutex or atomics
// and that Rebuild keeps, because such a target may change at any time.
func (c compiler) pointer(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	if in == shallow {
		return func(w *signing, p unsafe.Pointer) { w.ref(*(*unsafe.Pointer)(p)) }
	}
	replaced := func(p unsafe.Pointer) bool { return false }
	for _, l := range c.leaves {
		holder, err := layoutOf(l.typ, t)
		if in == kept || err != nil || holder.kind != pointer {
			continue
		}
		before := replaced
		replaced = func(p unsafe.Pointer) bool {
			return !holder.unsure || before(p) || l.has(holder, reflect.NewAt(t, p).Elem())
		}
	}
	target, guarded := t.Elem(), guards(t.Elem())
	return func(w *signing, p unsafe.Pointer) {
		to := *(*unsafe.Pointer)(p)
		if to == nil {
			w.number(0)
			return
		}
		at := place{address{to, t}, kept}
		if replaced(p) {
			at.in = owned
		}
		n, known := w.mark(at)
		if at.in == owned {
			w.number(n + 2)
		} else {
			w.number(1)
			w.ref(to)
			w.opaque = w.opaque || guarded
			known = known || guarded
		}
		if !known {
			w.signer.program(target, at.in).do(w, to)
		}
	}
}

// guards reports whether a type has a mutex, atomics or other means of sharing values between
// goroutines.
func guards(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return guards(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i).Type; guards(f) || f == mutex || f == rwMutex {
				return true
			}
		}
		return t != mutex && t != rwMutex && (t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic")
	}
	return false
}

// mapping signs the entries of a map, in the order of the signatures of their keys.
func (c compiler) mapping(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	if in == shallow {
		return func(w *signing, p unsafe.Pointer) { w.ref(*(*unsafe.Pointer)(p)) }
	}
	type entry struct {
		order      []byte
		key, value unsafe.Pointer
	}
	order, key, value := c.compile(t.Key(), shallow), c.compile(t.Key(), kept), c.compile(t.Elem(), in)
	return func(w *signing, p unsafe.Pointer) {
		m := reflect.NewAt(t, p).Elem()
		if m.IsNil() {
			w.number(0)
			return
		}
		w.number(uint64(m.Len()) + 1)
		if in == kept {
			w.kept = append(w.kept, m.UnsafePointer())
		}
		var entries []entry
		for it := m.MapRange(); it.Next(); {
			k, v := reflect.New(t.Key()), reflect.New(t.Elem())
			k.Elem().SetIterKey(it)
			v.Elem().SetIterValue(it)
			by := signing{signer: w.signer}
			order.do(&by, k.UnsafePointer())
			for _, ref := range slices.Concat(by.refs, by.funcs) {
				by.number(uint64(uintptr(ref)))
			}
			entries = append(entries, entry{by.bits, k.UnsafePointer(), v.UnsafePointer()})
		}
		sorts.Stable(entries, func(a, b entry) int { return bytes.Compare(a.order, b.order) })
		for _, e := range entries {
			key.do(w, e.key)
			value.do(w, e.value)
		}
	}
}

// dynamic signs an interface's dynamic type and value.
func (c compiler) dynamic(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	return func(w *signing, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem().Elem()
		if !v.IsValid() {
			w.ref(nil)
			return
		}
		w.ref(reflect.ValueOf(v.Type()).UnsafePointer())
		if prog := w.signer.program(v.Type(), in); !prog.void {
			x := reflect.New(v.Type())
			x.Elem().Set(v)
			prog.do(w, x.UnsafePointer())
		}
	}
}
