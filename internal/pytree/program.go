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

func (c compiler) compile(t reflect.Type, in region) *program {
	key := programKey{t, in}
	if g, ok := c.programs.Load(key); ok {
		return g.(*program)
	}
	if g := c.done[key]; g != nil {
		return g
	}
	g := &program{size: t.Size()}
	c.done[key] = g
	isLeaf := slices.ContainsFunc(c.leaves, func(l LeafType) bool { return l.typ == t })
	switch {
	case isLeaf && in == owned, t == mutex, t == rwMutex, t.Size() == 0:
		g.void = true
		return g
	case isLeaf:
		in = shallow
	}
	switch t.Kind() {
	case reflect.Struct:
		c.structure(g, t, in)
	case reflect.Array:
		c.array(g, t, in)
	case reflect.Slice:
		g.run = c.slice(t, in)
	case reflect.Map:
		g.run = c.mapping(t, in)
	case reflect.Pointer:
		g.run = c.pointer(t, in)
	case reflect.Interface:
		g.run = c.dynamic(t, in)
	case reflect.String:
		g.run = func(w *signing, p unsafe.Pointer) {
			s := *(*string)(p)
			w.number(uint64(len(s)))
			w.memory(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
		}
	case reflect.Func:
		g.run = func(w *signing, p unsafe.Pointer) { w.funcs = append(w.funcs, *(*unsafe.Pointer)(p)) }
	case reflect.Chan, reflect.UnsafePointer:
		g.run = func(w *signing, p unsafe.Pointer) {
			w.ref(*(*unsafe.Pointer)(p))
			w.opaque = w.opaque || *(*unsafe.Pointer)(p) != nil
		}
	default:
		g.plain = true
	}
	return g
}

var (
	mutex   = reflect.TypeFor[sync.Mutex]()
	rwMutex = reflect.TypeFor[sync.RWMutex]()
)

// structure signs fields one by one, those that are plain and adjacent as one.
func (c compiler) structure(g *program, t reflect.Type, in region) {
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
		e := c.compile(f.Type, in)
		if n := len(parts); n > 0 && e.plain && parts[n-1].plain && parts[n-1].at+parts[n-1].size == f.Offset {
			parts[n-1].program = &program{size: parts[n-1].size + e.size, plain: true}
			continue
		}
		if !e.void {
			parts = append(parts, part{f.Offset, e})
		}
	}
	if g.void = len(parts) == 0; g.void {
		return
	}
	if g.plain = parts[0].plain && parts[0].size == t.Size(); g.plain {
		return
	}
	g.run = func(w *signing, p unsafe.Pointer) {
		for _, f := range parts {
			f.do(w, unsafe.Add(p, f.at))
		}
	}
}

func (c compiler) array(g *program, t reflect.Type, in region) {
	e, n := c.compile(t.Elem(), in), t.Len()
	g.plain, g.void = e.plain, e.void
	if !g.plain && !g.void {
		g.run = func(w *signing, p unsafe.Pointer) { e.all(w, p, n) }
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

// slice signs a slice. A kept one is signed up to its capacity, because f could reslice it.
func (c compiler) slice(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	e := c.compile(t.Elem(), in)
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
		e.all(w, data, n)
	}
}

// pointer signs a pointer and its target. The target of a pointer that Rebuild keeps, if it
// has a mutex or atomics, may change at any time, and is not read.
func (c compiler) pointer(t reflect.Type, in region) func(w *signing, p unsafe.Pointer) {
	if in == shallow {
		return func(w *signing, p unsafe.Pointer) { w.ref(*(*unsafe.Pointer)(p)) }
	}
	replaced := func(p unsafe.Pointer) bool { return false }
	for _, l := range c.leaves {
		g, err := layoutOf(l.typ, t)
		if in == kept || err != nil || g.kind != pointer {
			continue
		}
		before := replaced
		replaced = func(p unsafe.Pointer) bool { return !g.unsure || before(p) || l.has(g, reflect.NewAt(t, p).Elem()) }
	}
	e, guarded := t.Elem(), guards(t.Elem())
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
			w.signer.program(e, at.in).do(w, to)
		}
	}
}

// guards reports whether a type has a mutex, atomics or others that goroutines share values by.
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

// mapping signs the entries of a map, in the order of their keys' own signatures.
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
		if g := w.signer.program(v.Type(), in); !g.void {
			x := reflect.New(v.Type())
			x.Elem().Set(v)
			g.do(w, x.UnsafePointer())
		}
	}
}
