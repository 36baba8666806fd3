package grad_test

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"
	"unsafe"
	"weak"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

type jitNumber struct{ n float64 }

// A jitRing contains itself.
type jitRing struct {
	n    float64
	next *jitRing
}

type jitGuarded struct {
	_ sync.Mutex
	m map[string]float64
}

// A jitHolder is something that a function may read in each way that Go has.
type jitHolder struct {
	X         tensor.Tensor
	Exported  *struct{ N float64 }
	Opaque    *jitNumber
	hidden    *jitNumber
	number    float64
	array     [2]jitNumber
	slice     []float64
	beyond    []float64 // its capacity has the number
	slices    [][]float64
	pointers  []*jitNumber
	floats    map[string]float64
	structs   map[int]jitNumber
	byPointer map[*jitNumber]float64
	byNaN     map[float64]float64
	any       any
	method    interface{ Float64() float64 }
	err       error
	text      string
	raw       json.RawMessage
	time      time.Time
	big       *big.Int
	atomic    *atomic.Int64
	guarded   *jitGuarded
	pool      *sync.Map
	ring      *jitRing
	pair      [2]*jitNumber
	channel   chan float64
	unsafe    unsafe.Pointer
	closure   func() float64
	bound     func() float64
	Skipped   tensor.Tensor  `tensor:"-"`
	skipped   *tensor.Tensor `tensor:"-"`
	complex   complex128
	generic   jitGeneric[map[string]float64]
	embedded  struct{ jitFloat }
	list      *list.List
	rat       *big.Rat
	reflected reflect.Value
	unique    unique.Handle[string]
	weak      weak.Pointer[jitNumber]
	context   context.Context
	regexp    *regexp.Regexp
	keys      map[any]float64
	targets   **jitNumber
	cell      *any
	aliases   [2][]float64
	jitNumber
}

type jitGeneric[T any] struct{ of T }

type jitFloat interface{ Float64() float64 }

func (n *jitNumber) Float64() float64 { return n.n }

func newJitHolder() *jitHolder {
	number := &jitNumber{}
	h := &jitHolder{
		X: tensor.New([]float64{1}), Exported: &struct{ N float64 }{}, Opaque: &jitNumber{}, hidden: &jitNumber{},
		slice: []float64{0}, beyond: make([]float64, 1, 2), slices: [][]float64{{0}}, pointers: []*jitNumber{{}},
		floats: map[string]float64{"k": 0}, structs: map[int]jitNumber{1: {}, 2: {}}, byPointer: map[*jitNumber]float64{number: 0},
		byNaN: map[float64]float64{math.NaN(): 0}, any: []any{map[string]*jitNumber{"k": {}}}, method: &jitNumber{},
		big: big.NewInt(0), atomic: new(atomic.Int64), guarded: &jitGuarded{m: map[string]float64{}}, pool: new(sync.Map),
		ring: &jitRing{next: &jitRing{}}, channel: make(chan float64, 8), unsafe: unsafe.Pointer(number),
		Skipped: tensor.New([]float64{0}), skipped: new(tensor.Tensor),
	}
	*h.skipped = tensor.New([]float64{0})
	h.generic.of, h.embedded.jitFloat, h.list, h.rat, h.cell = map[string]float64{}, &jitNumber{}, list.New(), new(big.Rat), new(any)
	h.weak, h.targets, h.keys = weak.Make(number), &number, map[any]float64{}
	h.ring.next.next = h.ring
	return h
}

// jitChanges change one thing in a holder, and read it.
var jitChanges = []struct {
	name   string
	change func(h *jitHolder, n float64)
	read   func(h *jitHolder) any
}{
	{"Exported", func(h *jitHolder, n float64) { h.Exported.N = n }, func(h *jitHolder) any { return h.Exported.N }},
	{"Opaque", func(h *jitHolder, n float64) { h.Opaque.n = n }, func(h *jitHolder) any { return h.Opaque.n }},
	{"hidden", func(h *jitHolder, n float64) { h.hidden.n = n }, func(h *jitHolder) any { return h.hidden.n }},
	{"number", func(h *jitHolder, n float64) { h.number = n }, func(h *jitHolder) any { return h.number }},
	{"sign of zero", func(h *jitHolder, n float64) { h.number = math.Copysign(0, n-2) }, func(h *jitHolder) any { return math.Copysign(1, h.number) }},
	{"bits of NaN", func(h *jitHolder, n float64) { h.number = math.Float64frombits(0x7ff8000000000000 + uint64(n)) }, func(h *jitHolder) any { return float64(math.Float64bits(h.number) & 7) }},
	{"array", func(h *jitHolder, n float64) { h.array[1].n = n }, func(h *jitHolder) any { return h.array[1].n }},
	{"slice", func(h *jitHolder, n float64) { h.slice[0] = n }, func(h *jitHolder) any { return h.slice[0] }},
	{"beyond", func(h *jitHolder, n float64) { h.beyond[:2][1] = n }, func(h *jitHolder) any { return h.beyond[:2][1] }},
	{"slices", func(h *jitHolder, n float64) { h.slices[0][0] = n }, func(h *jitHolder) any { return h.slices[0][0] }},
	{"length", func(h *jitHolder, n float64) { h.slices = make([][]float64, int(n)) }, func(h *jitHolder) any { return float64(len(h.slices)) }},
	{"pointers", func(h *jitHolder, n float64) { h.pointers[0].n = n }, func(h *jitHolder) any { return h.pointers[0].n }},
	{"floats", func(h *jitHolder, n float64) { h.floats["k"] = n }, func(h *jitHolder) any { return h.floats["k"] }},
	{"key", func(h *jitHolder, n float64) { h.floats = map[string]float64{fmt.Sprint(n): n} }, func(h *jitHolder) any { return slices.Collect(maps.Values(h.floats))[0] }},
	{"structs", func(h *jitHolder, n float64) { h.structs[1] = jitNumber{n} }, func(h *jitHolder) any { return h.structs[1].n }},
	{"behind a key", func(h *jitHolder, n float64) { (*jitNumber)(h.unsafe).n = n }, func(h *jitHolder) any {
		for k := range h.byPointer {
			return k.n
		}
		return 0.0
	}},
	{"by pointer", func(h *jitHolder, n float64) { h.byPointer[(*jitNumber)(h.unsafe)] = n }, func(h *jitHolder) any { return h.byPointer[(*jitNumber)(h.unsafe)] }},
	{"by NaN", func(h *jitHolder, n float64) { clear(h.byNaN); h.byNaN[math.NaN()] = n }, func(h *jitHolder) any { return slices.Collect(maps.Values(h.byNaN))[0] }},
	{"any", func(h *jitHolder, n float64) { h.any.([]any)[0].(map[string]*jitNumber)["k"].n = n }, func(h *jitHolder) any { return h.any.([]any)[0].(map[string]*jitNumber)["k"].n }},
	{"method", func(h *jitHolder, n float64) { h.method.(*jitNumber).n = n }, func(h *jitHolder) any { return h.method.Float64() }},
	{"err", func(h *jitHolder, n float64) { h.err = []error{io.EOF, errors.New("EOF")}[int(n)%2] }, func(h *jitHolder) any {
		if h.err == io.EOF {
			return 1.0
		}
		return 2.0
	}},
	{"text", func(h *jitHolder, n float64) { h.text = fmt.Sprint(n) }, func(h *jitHolder) any { return float64(h.text[0]) }},
	{"raw", func(h *jitHolder, n float64) { h.raw = append(h.raw[:0], fmt.Sprint(n)...) }, func(h *jitHolder) any { return float64(h.raw[0]) }},
	{"time", func(h *jitHolder, n float64) { h.time = time.Unix(int64(n), 0) }, func(h *jitHolder) any { return float64(h.time.Unix()) }},
	{"big", func(h *jitHolder, n float64) { h.big.SetInt64(int64(n)) }, func(h *jitHolder) any { return float64(h.big.Int64()) }},
	{"atomic", func(h *jitHolder, n float64) { h.atomic.Store(int64(n)) }, func(h *jitHolder) any { return float64(h.atomic.Load()) }},
	{"guarded", func(h *jitHolder, n float64) { h.guarded.m["k"] = n }, func(h *jitHolder) any { return h.guarded.m["k"] }},
	{"pool", func(h *jitHolder, n float64) { h.pool.Store(1, n) }, func(h *jitHolder) any { n, _ := h.pool.Load(1); return n }},
	{"ring", func(h *jitHolder, n float64) { h.ring.next.n = n }, func(h *jitHolder) any { return h.ring.next.next.next.n }},
	{"aliases", func(h *jitHolder, n float64) {
		h.pair = [2]*jitNumber{h.hidden, []*jitNumber{h.hidden, h.Opaque}[int(n)%2]}
	}, func(h *jitHolder) any {
		if h.pair[0] == h.pair[1] {
			return 1.0
		}
		return 2.0
	}},
	{"channel", func(h *jitHolder, n float64) { h.channel = make(chan float64, int(n)) }, func(h *jitHolder) any { return float64(cap(h.channel)) }},
	{"buffered", func(h *jitHolder, n float64) {
		for range int(n) - len(h.channel) {
			h.channel <- n
		}
	}, func(h *jitHolder) any { return float64(len(h.channel)) }},
	{"unsafe", func(h *jitHolder, n float64) { *(*float64)(h.unsafe) = n }, func(h *jitHolder) any { return *(*float64)(h.unsafe) }},
	{"closure", func(h *jitHolder, n float64) {
		if h.closure == nil {
			h.closure = func() float64 { n := h.hidden.n; return n }
		}
		h.hidden.n = n
	}, func(h *jitHolder) any { return h.closure() }},
	{"bound", func(h *jitHolder, n float64) { h.bound, h.hidden.n = h.hidden.Float64, n }, func(h *jitHolder) any { return h.bound() }},
	{"Skipped", func(h *jitHolder, n float64) { h.Skipped = tensor.New([]float64{n}) }, func(h *jitHolder) any { return h.Skipped }},
	{"skipped", func(h *jitHolder, n float64) { *h.skipped = tensor.New([]float64{n}) }, func(h *jitHolder) any { return *h.skipped }},
	{"complex", func(h *jitHolder, n float64) { h.complex = complex(1, n) }, func(h *jitHolder) any { return imag(h.complex) }},
	{"generic", func(h *jitHolder, n float64) { h.generic.of["k"] = n }, func(h *jitHolder) any { return h.generic.of["k"] }},
	{"embedded interface", func(h *jitHolder, n float64) { h.embedded.jitFloat.(*jitNumber).n = n }, func(h *jitHolder) any { return h.embedded.Float64() }},
	{"list", func(h *jitHolder, n float64) { h.list.Init().PushBack(n) }, func(h *jitHolder) any { return h.list.Front().Value }},
	{"rat", func(h *jitHolder, n float64) { h.rat.SetInt64(int64(n)) }, func(h *jitHolder) any { f, _ := h.rat.Float64(); return f }},
	{"reflected", func(h *jitHolder, n float64) { h.reflected = reflect.ValueOf(&n).Elem() }, func(h *jitHolder) any { return h.reflected.Float() }},
	{"unique", func(h *jitHolder, n float64) { h.unique = unique.Make(fmt.Sprint(n)) }, func(h *jitHolder) any { return float64(h.unique.Value()[0]) }},
	{"weak", func(h *jitHolder, n float64) { (*h.targets).n = n }, func(h *jitHolder) any { return h.weak.Value().n }},
	{"context", func(h *jitHolder, n float64) { h.context = context.WithValue(context.Background(), jitNumber{}, n) }, func(h *jitHolder) any { return h.context.Value(jitNumber{}) }},
	{"regexp", func(h *jitHolder, n float64) { h.regexp = regexp.MustCompile(fmt.Sprintf("a{%v}", n)) }, func(h *jitHolder) any { return float64(len(h.regexp.FindString("aaaa"))) }},
	{"type of a key", func(h *jitHolder, n float64) { h.keys = map[any]float64{[]any{int32(1), int64(1)}[int(n)%2]: 1} }, func(h *jitHolder) any { return h.keys[int64(1)] + 1 }},
	{"sign of a key", func(h *jitHolder, n float64) { h.keys = map[any]float64{math.Copysign(0, n-2.5): 1} }, func(h *jitHolder) any {
		for k := range h.keys {
			return math.Copysign(1, k.(float64))
		}
		return 0.0
	}},
	{"target of a target", func(h *jitHolder, n float64) { *h.targets = &jitNumber{n} }, func(h *jitHolder) any { return (*h.targets).n }},
	{"cell", func(h *jitHolder, n float64) { *h.cell = n }, func(h *jitHolder) any { return *h.cell }},
	{"nil or empty", func(h *jitHolder, n float64) { h.slice = [][]float64{nil, {}}[int(n)%2] }, func(h *jitHolder) any {
		if h.slice == nil {
			return 1.0
		}
		return 2.0
	}},
	{"capacity", func(h *jitHolder, n float64) { h.beyond = make([]float64, 1, int(n)) }, func(h *jitHolder) any { return float64(cap(h.beyond)) }},
	{"slices of one array", func(h *jitHolder, n float64) {
		a := make([]float64, 2)
		h.aliases = [2][]float64{a, [][]float64{a, make([]float64, 2)}[int(n)%2]}
	}, func(h *jitHolder) any {
		if &h.aliases[0][0] == &h.aliases[1][0] {
			return 1.0
		}
		return 2.0
	}},
	{"embedded", func(h *jitHolder, n float64) { h.jitNumber.n = n }, func(h *jitHolder) any { return h.Float64() }},
}

// TestJitChanges changes arguments in place and compares recorded functions with the functions
// themselves.
func TestJitChanges(t *testing.T) {
	for _, c := range jitChanges {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newJitHolder()
			random := rand.New(rand.NewPCG(1, 2))
			byPointer := func(h *jitHolder) tensor.Tensor { return h.X.Mul(c.read(h)) }
			byInterface := func(h any) tensor.Tensor { return byPointer(h.(map[string]any)["h"].(*jitHolder)) }
			f, g := grad.Jit(byPointer), grad.Jit(byInterface)
			for i := range 8 {
				n := float64(1 + random.IntN(4))
				c.change(h, n)
				want := byPointer(h).Item()
				if got := f(h).Item(); got != want {
					t.Errorf("call %d, %s of %v: got %v, want %v", i, c.name, n, got, want)
				}
				if got := g(map[string]any{"h": h}).Item(); got != want {
					t.Errorf("call %d, %s of %v in an interface: got %v, want %v", i, c.name, n, got, want)
				}
			}
		})
	}
}
