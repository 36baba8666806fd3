package gpu

import (
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
)

// maxPipelines is the most pipelines that are kept.
const maxPipelines = 1 << 11

// maxPassSlots is the most slots of a kernel's parameters: a submission has fewer than batch dispatches before its
// last call.
const maxPassSlots = maxUniforms - maxSlots*batch

// A program is a kernel as passes of shaders.
type program struct {
	schedule.Signature
	device  *device
	passes  []pass
	scratch []int
}

type pass struct {
	pipeline *pipeline
	bindings []shader.Buffer
	groups   [3]uint32
	params   []shader.Param
	room     int // of the parameters in the uniform buffer, in bytes
}

// A pipeline is a shader, compiled in the background, and again if it was
// dropped.
type pipeline struct {
	source string
	layout wgpu.Layout
	raw    bool          // the source is a user's
	handle wgpu.Pipeline // 0 if it was dropped
	ready  bool
	err    error
	entry  *lru.Entry[string, *pipeline] // of device.pipelines, once it is there
}

// freePipeline frees the compiled code; ensure compiles it again.
func (d *device) freePipeline(s *pipeline) {
	if s.handle != 0 {
		d.dev.FreePipeline(s.handle)
	}
	s.handle, s.ready = 0, false
}

// Build implements tune.Machine.
func (d *device) Build(k *ir.Kernel, p *shader.Program) (driver.Program, error) {
	d.trim()
	w := sources{scratch: p.Scratch}
	for _, q := range p.Passes {
		w.passes = append(w.passes, source{wgsl.Print(q), q})
	}
	return d.build(&w, schedule.SignatureOf(k, d.Target))
}

// Language implements driver.RawCompiler.
func (d *device) Language() string { return "wgsl" }

// CompileRaw implements driver.RawCompiler.
func (d *device) CompileRaw(k *ir.RawKernel) (driver.Program, error) {
	if d.Closed != nil {
		return nil, d.Closed
	}
	d.trim()
	q, signature, err := schedule.Raw(k, d.Target)
	if err != nil {
		return nil, err
	}
	q.Params = nil // the text has the number
	text, err := wgsl.Raw(k, q)
	if err != nil {
		return nil, err
	}
	return d.build(&sources{passes: []source{{text, q}}, raw: true}, signature)
}

// sources are the passes of a kernel as text.
type sources struct {
	passes  []source
	scratch []int // sizes of the buffers that passes share
	raw     bool  // the text is a user's
}

type source struct {
	text string
	pass *shader.Pass // which needs no body
}

// build makes a program of a kernel's passes.
func (d *device) build(w *sources, signature schedule.Signature) (*program, error) {
	slots := 0
	for i := range w.passes {
		slots += roomOf(w.passes[i].pass) / slot
	}
	if slots > maxPassSlots {
		return nil, fmt.Errorf("%s: a kernel of %d passes; there is room for the parameters of %d", d.Name(), len(w.passes), maxPassSlots*len(w.passes)/slots)
	}
	p := &program{Signature: signature, device: d, scratch: w.scratch, passes: make([]pass, 0, len(w.passes))}
	for i := range w.passes {
		q := w.passes[i].pass
		if len(q.Buffers) > d.bindings {
			return nil, fmt.Errorf("%s: a pass of %d buffers; this adapter takes at most %d", d.Name(), len(q.Buffers), d.bindings)
		}
		s, err := d.pipeline(&w.passes[i], w.raw)
		if err != nil {
			return nil, err
		}
		buffers, params := q.Arguments()
		p.passes = append(p.passes, pass{
			pipeline: s, bindings: buffers, params: params, room: roomOf(q),
			groups: [3]uint32{uint32(q.Grid[0]), uint32(q.Grid[1]), uint32(q.Grid[2])},
		})
	}
	return p, nil
}

// roomOf is the room of a pass's parameters: whole slots.
func roomOf(q *shader.Pass) int { return (4*len(q.Params) + slot - 1) / slot * slot }

// pipeline returns the shader of a pass, compiled or being compiled.
func (d *device) pipeline(w *source, raw bool) (*pipeline, error) {
	if e := d.pipelines.Get(w.text); e != nil {
		return e.Value, d.ensure(e.Value)
	}
	l, err := d.layout(w.pass)
	if err != nil {
		return nil, err
	}
	s := &pipeline{source: w.text, layout: l, raw: raw}
	return s, d.ensure(s)
}

// ensure starts to compile a shader that is neither compiled nor being compiled.
func (d *device) ensure(s *pipeline) error {
	if s.err != nil || s.handle != 0 {
		return s.err
	}
	p, err := d.dev.NewPipeline(s.source, s.layout)
	if err != nil {
		return d.refused(s, err)
	}
	s.handle = p
	s.entry = d.pipelines.Put(s.source, s)
	return nil
}

// refused returns the error of a shader that does not compile. An invalid shader
// keeps the error; after a failure of the driver the next run tries again.
func (d *device) refused(s *pipeline, err error) error {
	var e *wgpu.Error
	invalid := errors.As(err, &e) && e.Kind == wgpu.Validation
	err = d.returned(err)
	if !invalid {
		d.freePipeline(s)
		return err
	}
	s.entry = d.pipelines.Put(s.source, s)
	if s.raw {
		s.err = fmt.Errorf("%w: %w", driver.ErrSource, err)
		return s.err
	}
	s.err = fmt.Errorf("%w\nThis is a fault of the library: please report it, with the shader:\n%s", err, s.source)
	return s.err
}

// layout returns the layout of a pass. Passes with equal bindings share one, and so
// share bind groups.
func (d *device) layout(q *shader.Pass) (wgpu.Layout, error) {
	write := make([]bool, len(q.Buffers))
	for i, b := range q.Buffers {
		write[i] = b.Write
	}
	params := int64(roomOf(q))
	key := fmt.Sprint(write, params)
	if l, ok := d.layouts[key]; ok {
		return l, nil
	}
	l, err := d.dev.NewLayout(write, params)
	if err != nil {
		return 0, d.returned(err)
	}
	d.layouts[key] = l
	return l, nil
}
