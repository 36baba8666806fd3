//go:build js

package wgpu

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/internal/terminal"
)

// library is the WebGPU of a browser's page or worker, or of Node with npm's webgpu.
type library struct{ gpu js.Value }

func (library) String() string { return "navigator.gpu" }

// Load returns navigator.gpu. No path is allowed. The error names the missing part.
func Load(path string) (Library, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: %s cannot be loaded: WebAssembly has the WebGPU of navigator.gpu alone", ErrNoLibrary, path)
	}
	if navigator := js.Global().Get("navigator"); navigator.Truthy() {
		if gpu := navigator.Get("gpu"); gpu.Truthy() {
			return library{gpu}, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no navigator.gpu: %s", ErrNoLibrary, whyNoGPU())
}

// whyNoGPU says why navigator has no gpu.
func whyNoGPU() string {
	if underNode() {
		return "under Node, set it to the result of create of npm's webgpu"
	}
	if secure := js.Global().Get("isSecureContext"); secure.Type() == js.TypeBoolean && !secure.Bool() {
		return "browsers have WebGPU only for pages from https or localhost"
	}
	return "this browser has no WebGPU, or it is off"
}

// underNode reports whether the program runs under Node. Go gives browsers an object process,
// too.
func underNode() bool { return js.Global().Get("process").Get("versions").Truthy() }

// await waits for a promise while the event loop runs. It must not be called by a callback
// of JavaScript.
func await(call string, promise js.Value, timeout time.Duration) (js.Value, error) {
	type result struct {
		value js.Value
		err   error
	}
	done := make(chan result, 1)
	var resolved, rejected js.Func
	finish := func(r result) {
		resolved.Release()
		rejected.Release()
		done <- r
	}
	resolved = js.FuncOf(func(_ js.Value, args []js.Value) any {
		finish(result{value: args[0]})
		return nil
	})
	rejected = js.FuncOf(func(_ js.Value, args []js.Value) any {
		finish(result{err: &Error{Internal, call, args[0].Get("message").String()}})
		return nil
	})
	promise.Call("then", resolved, rejected)
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(timeout):
		return js.Undefined(), &Error{Timeout, call, fmt.Sprintf("nothing came in %v", timeout)}
	}
}

// A found adapter is one that can be opened.
type found struct {
	Adapter
	value js.Value
}

// find lists adapters: the fastest, the one with the lowest power and the software one.
func (l library) find(timeout time.Duration) ([]found, error) {
	var list []found
	for _, o := range []map[string]any{
		{"powerPreference": "high-performance"},
		{"powerPreference": "low-power"},
		{"forceFallbackAdapter": true},
	} {
		v, err := await("Adapters", l.gpu.Call("requestAdapter", o), timeout)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			continue
		}
		a := describe(v)
		if !slices.ContainsFunc(list, a.same) {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil, noAdapter("js", "")
	}
	sorts.Stable(list, func(a, b found) int { return rank(a.Kind) - rank(b.Kind) })
	return list, nil
}

func (a found) same(b found) bool { return a.Name == b.Name && a.Kind == b.Kind }

// vendorKinds has the kinds of GPUs by vendor, where nearly all GPUs of the vendor are of one
// kind: browsers do not tell it.
var vendorKinds = map[string]Kind{
	"nvidia": Discrete,
	"apple":  Integrated, "arm": Integrated, "img-tec": Integrated, "intel": Integrated, "qualcomm": Integrated, "samsung": Integrated,
}

// limitNames has the names of limits, with where they are.
var limitNames = []struct {
	name string
	set  func(l *Limits, n int64)
}{
	{"maxStorageBuffersPerShaderStage", func(l *Limits, n int64) { l.StorageBuffers = int(n) }},
	{"maxStorageBufferBindingSize", func(l *Limits, n int64) { l.StorageBinding = n }},
	{"maxBufferSize", func(l *Limits, n int64) { l.Buffer = n }},
	{"maxComputeWorkgroupStorageSize", func(l *Limits, n int64) { l.WorkgroupStorage = int(n) }},
	{"maxComputeInvocationsPerWorkgroup", func(l *Limits, n int64) { l.WorkgroupSize = int(n) }},
	{"maxComputeWorkgroupSizeX", func(l *Limits, n int64) { l.WorkgroupSizes[0] = int(n) }},
	{"maxComputeWorkgroupSizeY", func(l *Limits, n int64) { l.WorkgroupSizes[1] = int(n) }},
	{"maxComputeWorkgroupSizeZ", func(l *Limits, n int64) { l.WorkgroupSizes[2] = int(n) }},
	{"maxComputeWorkgroupsPerDimension", func(l *Limits, n int64) { l.Workgroups = int(n) }},
	{"minUniformBufferOffsetAlignment", func(l *Limits, n int64) { l.UniformAlignment = int(n) }},
	{"maxUniformBufferBindingSize", func(l *Limits, n int64) { l.UniformBinding = n }},
	{"maxBindingsPerBindGroup", func(l *Limits, n int64) { l.BindingsOfOneLayout = int(n) }},
}

// describe reads an adapter's properties. Browsers leave out those that would identify a
// visitor.
func describe(v js.Value) found {
	info := v.Get("info")
	text := func(key string) string {
		if s := info.Get(key); s.Type() == js.TypeString {
			return terminal.Escape(s.String(), "")
		}
		return ""
	}
	number := func(key string) int {
		if n := info.Get(key); n.Type() == js.TypeNumber {
			return n.Int()
		}
		return 0
	}
	a := found{value: v, Adapter: Adapter{
		Vendor: text("vendor"), Architecture: text("architecture"), Driver: text("description"), Backend: "browser",
		SubgroupMin: number("subgroupMinSize"), SubgroupMax: number("subgroupMaxSize"),
	}}
	for _, name := range []string{text("device"), a.Driver, strings.TrimSpace(a.Vendor + " " + a.Architecture), "unnamed"} {
		if a.Name == "" {
			a.Name = name
		}
	}
	a.Kind = vendorKinds[a.Vendor]
	if info.Get("isFallbackAdapter").Truthy() {
		a.Kind = Software
	}
	limits := v.Get("limits")
	for _, l := range limitNames {
		l.set(&a.Limits, int64(limits.Get(l.name).Float()))
	}
	for _, name := range []string{ShaderF16, Subgroups, TimestampQuery} {
		if v.Get("features").Call("has", name).Bool() {
			a.Features = append(a.Features, name)
		}
	}
	return a
}

// Adapters implements Library.
func (l library) Adapters() ([]Adapter, error) {
	list, err := l.find(time.Minute)
	return public(list), err
}

func public(list []found) []Adapter {
	var as []Adapter
	for _, a := range list {
		as = append(as, a.Adapter)
	}
	return as
}

// Open implements Library. A browser always validates.
func (l library) Open(pick func([]Adapter) (int, error), o Options) (d Device, err error) {
	list, err := l.find(o.timeout())
	if err != nil {
		return nil, err
	}
	i, err := pick(public(list))
	if err != nil {
		return nil, err
	}
	a := &list[i]
	limits, features := map[string]any{}, []any{}
	for _, l := range limitNames {
		limits[l.name] = a.value.Get("limits").Get(l.name)
	}
	for _, name := range a.Features {
		features = append(features, name)
	}
	v, err := await("Open", a.value.Call("requestDevice", map[string]any{"requiredFeatures": features, "requiredLimits": limits}), o.timeout())
	if err != nil {
		return nil, err
	}
	return newDevice(a.Adapter, v, o)
}
