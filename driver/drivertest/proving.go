package drivertest

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A GPU is a device with the abilities that all GPUs have.
type GPU interface {
	driver.Looper
	driver.Flusher
	driver.RawCompiler
}

// Proving returns a GPU of a name and version that computes only kernels without proofs. A kernel that has one is
// compiled when it runs all the same, beside another one.
func Proving(d GPU, p *Proofs, name string) driver.Device {
	g := &proving{GPU: d, proofs: p, name: name}
	if timer, ok := d.(driver.Profiler); ok {
		return provingProfiler{g, timer}
	}
	return g
}

type proving struct {
	GPU
	proofs *Proofs
	name   string
	ledger ledger
}

// A lazy program is compiled when it first runs, if it has a proof.
type lazy struct {
	args    []ir.Arg
	compile func() (driver.Program, error) // once
	proof   proof
}

func (g *proving) lazy(text string, args []ir.Arg, compile func() (driver.Program, error)) (driver.Program, error) {
	p := &lazy{args: args, compile: sync.OnceValues(compile)}
	var err error
	p.proof, err = g.proofs.of(text, g.name, func() (string, error) {
		_, err := p.compile()
		return g.name + g.proofs.sources, err
	})
	return p, err
}

func (g *proving) Compile(k *ir.Kernel) (driver.Program, error) {
	return g.lazy(k.String(), k.Args, func() (driver.Program, error) { return g.GPU.Compile(k) })
}

func (g *proving) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return g.lazy(string(l.Append(nil)), l.Args, func() (driver.Program, error) { return g.GPU.CompileLoop(l) })
}

// real returns calls of compiled programs: none if they are to be left out.
func (g *proving) real(calls []driver.Call) ([]driver.Call, error) {
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		p, ok := c.Program.(*lazy)
		if !ok {
			continue
		}
		g.ledger.asked = append(g.ledger.asked, p.proof)
		var err error
		if g.ledger.idle {
			err = g.clear(p, c)
		} else {
			c.Program, err = p.compile()
		}
		if err != nil {
			return nil, err
		}
	}
	if g.ledger.idle {
		return nil, nil
	}
	return calls, nil
}

// clear sets the reports of a call to 0: all indices are good.
func (g *proving) clear(p *lazy, c *driver.Call) error {
	for i, a := range p.args {
		if b := c.Args[i].Buffer; a.Kind == ir.Status {
			if err := g.Upload(b, 0, make([]byte, b.Size())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *proving) Run(calls []driver.Call) error {
	calls, err := g.real(calls)
	if err != nil || len(calls) == 0 {
		return err
	}
	return g.GPU.Run(calls)
}

// checked does not wait after compute, which runs nothing: package exec may call the device meanwhile.
func (g *proving) checked(compute, check func() error) error {
	return g.ledger.checked(g.proofs, func() error { return nil }, compute, check)
}

type provingProfiler struct {
	*proving
	timer driver.Profiler
}

func (g provingProfiler) RunTimed(calls []driver.Call) (driver.Timing, error) {
	calls, err := g.real(calls)
	if err != nil {
		return nil, err
	}
	return g.timer.RunTimed(calls)
}
