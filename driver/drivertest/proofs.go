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

	"github.com/tensorken/tensorken/internal/files"
)

// Proofs are the kernels that a [Reference] has computed right, so that later runs of the same tests need
// not compute them again. A proof is a hash of the kernel, of the program that runs it, and of Salt.
type Proofs struct {
	// Salt stands for the tests and the simulator: with another one nothing is proved.
	Salt string

	mu    sync.Mutex
	known map[proof]bool // by earlier runs
	used  map[proof]bool // of this run, known or new
}

type proof [16]byte

// LoadProofs reads a file that Save has written. Without it nothing is proved.
func LoadProofs(path, salt string) (*Proofs, error) {
	p := &Proofs{Salt: salt, known: map[proof]bool{}, used: map[proof]bool{}}
	text, err := files.ReadAll(path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	for line := range strings.Lines(string(text)) {
		h := proof{}
		if n, err := hex.Decode(h[:], []byte(strings.TrimSuffix(line, "\n"))); n != len(h) || err != nil {
			return nil, fmt.Errorf("drivertest: %s: %q is no proof: remove the file", path, line)
		}
		p.known[h] = true
	}
	return p, err
}

// Save writes the kernels that this run has used or proved. Others are forgotten.
func (p *Proofs) Save(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return files.Replace(path, func(w *bufio.Writer) error {
		for _, h := range slices.SortedFunc(maps.Keys(p.used), func(a, b proof) int { return slices.Compare(a[:], b[:]) }) {
			fmt.Fprintf(w, "%x\n", h)
		}
		return nil
	})
}

// of returns the proof of a kernel that a program runs.
func (p *Proofs) of(kernel, program string) (h proof) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s%s%s", len(p.Salt), len(kernel), p.Salt, kernel, program))
	copy(h[:], sum[:])
	return h
}

// have reports whether all kernels of a list are known.
func (p *Proofs) have(list []proof) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range list {
		if !p.known[h] {
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
	for _, h := range list {
		p.used[h] = true
	}
}

// checked calls check, which computes something and compares it, unless all kernels of compute, which only
// computes it, are proved. Kernels of compute do nothing meanwhile. A check without kernels is always
// done.
func (r *Reference) checked(compute, check func() error) error {
	if r.Proofs == nil {
		return check()
	}
	r.asked, r.idle = nil, true
	err := compute()
	if e := r.Sync(); err == nil {
		err = e
	}
	r.idle = false
	if err == nil && len(r.asked) > 0 && r.Proofs.have(r.asked) {
		return nil
	}
	r.asked = nil
	if err := check(); err != nil {
		return err
	}
	r.Proofs.add(r.asked)
	return nil
}
