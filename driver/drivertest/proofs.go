package drivertest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
)

// Proofs are the kernels that a [Reference] has computed right, so that later runs of the same tests need
// not compute them again. A kernel is known in two ways: by its text and the sources of the packages that make programs,
// before they make one, and, if these sources are new, by its text and its program.
type Proofs struct {
	salt    string // stands for the tests and the simulator: with another one nothing is proved
	sources string // stand for the packages that make programs of kernels

	mu       sync.Mutex
	known    map[hash]hash // programs by kernel and sources, of earlier runs
	programs map[hash]bool // the programs of known
	used     map[hash]hash // of this run, known or new
}

type hash [16]byte

// A proof is a kernel in both ways.
type proof struct{ kernel, program hash }

// LoadProofs reads a file that Save has written. Without it nothing is proved.
func LoadProofs(path, salt, sources string) (*Proofs, error) {
	p := &Proofs{salt: salt, sources: sources, known: map[hash]hash{}, programs: map[hash]bool{}, used: map[hash]hash{}}
	text, err := files.ReadAll(path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	for line := range strings.Lines(string(text)) {
		b, err := hex.DecodeString(strings.TrimSuffix(line, "\n"))
		if err != nil || len(b) != 32 {
			return nil, fmt.Errorf("drivertest: %s: %q is no proof: remove the file", path, line)
		}
		program := hash(b[16:])
		p.known[hash(b)] = program
		p.programs[program] = true
	}
	return p, err
}

// Save writes the kernels that this run has used or proved. Others are forgotten.
func (p *Proofs) Save(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return files.Replace(path, func(w *bufio.Writer) error {
		for _, h := range slices.SortedFunc(maps.Keys(p.used), func(a, b hash) int { return slices.Compare(a[:], b[:]) }) {
			fmt.Fprintf(w, "%x%x\n", h, p.used[h])
		}
		return nil
	})
}

// of returns the proof of a kernel for a target. It calls program, which returns the kernel's program, only if the
// kernel is new.
func (p *Proofs) of(kernel, target string, program func() (string, error)) (proof, error) {
	of := proof{kernel: hashOf(p.salt, p.sources, target, kernel)}
	p.mu.Lock()
	known, ok := p.known[of.kernel]
	p.mu.Unlock()
	if of.program = known; ok {
		return of, nil
	}
	text, err := program()
	of.program = hashOf(p.salt, kernel, text)
	return of, err
}

func hashOf(list ...string) hash {
	h := sha256.New()
	for _, s := range list {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return hash(h.Sum(nil))
}

// have reports whether the programs of all kernels of a list are known.
func (p *Proofs) have(list []proof) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range list {
		if !p.programs[of.program] {
			return false
		}
	}
	p.insert(list)
	return true
}

// add notes kernels that were computed right.
func (p *Proofs) add(list []proof) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.insert(list)
}

func (p *Proofs) insert(list []proof) {
	for _, of := range list {
		p.used[of.kernel] = of.program
	}
}

// A ledger notes the kernels of a device for its Proofs.
type ledger struct {
	idle  bool    // kernels only clear their results
	asked []proof // of kernels that ran or were left idle
}

// checked calls check, which computes something and compares it, unless all kernels of compute, which only
// computes it, are proved. Kernels of compute do nothing meanwhile. A check without kernels is always
// done.
func (l *ledger) checked(p *Proofs, sync func() error, compute, check func() error) error {
	if p == nil {
		return check()
	}
	l.asked, l.idle = nil, true
	err := compute()
	if e := sync(); err == nil {
		err = e
	}
	l.idle = false
	if err == nil && len(l.asked) > 0 && p.have(l.asked) {
		return nil
	}
	l.asked = nil
	if err := check(); err != nil {
		return err
	}
	p.add(l.asked)
	return nil
}

// A checker is a device that leaves out checks of which it has proofs.
type checker interface {
	checked(compute, check func() error) error
}

// checked calls check, or the checked of a device that has it.
func checked(d driver.Device, compute, check func() error) error {
	if c, ok := d.(checker); ok {
		return c.checked(compute, check)
	}
	return check()
}
