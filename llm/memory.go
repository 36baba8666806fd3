package llm

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Memory is an estimate of the bytes that a model takes.
type Memory struct {
	Weights  int64
	PerToken int64 // of each token of a text, in the cache
	Context  int   // the most tokens; 0 is no limit
}

// Estimate returns the memory that the model at a path takes if [Open] opens it with options, from the sizes of its
// files.
func Estimate(path string, o *Options) (m Memory, err error) {
	if o == nil {
		o = &Options{}
	}
	f, err := sourceOf(path)
	if err == nil {
		m, err = estimate(f, *o)
	}
	if err != nil {
		return m, fmt.Errorf("llm: %w", err)
	}
	return m, nil
}

// estimate returns the memory that a model takes.
func estimate(f source, o Options) (m Memory, err error) {
	if err := o.CacheType.Check(); err != nil {
		return m, err
	}
	s, err := readSettings(f)
	if err != nil {
		return m, err
	}
	if m.Weights, err = f.weights(); err != nil {
		return m, err
	}
	typ := nn.CacheF32
	switch {
	case o.CacheType != "":
		typ = o.CacheType
	case s.Type == "float16" || s.Type == "bfloat16" || s.Type == inBlocks && (o.Device == nil || o.Device == tensor.CPU()):
		typ = nn.CacheF16
	}
	m.PerToken, m.Context = int64(s.Rows*typ.Bytes(s.HeadWidth)), s.Context
	return m, nil
}

// least is the context that Open wants to have memory for.
const least = 1024

// check returns an error if the model takes more than there is, with a size that would fit.
func (m Memory) check(o Options) error {
	free := o.Memory
	if free == 0 && (o.Device == nil || o.Device == tensor.CPU()) {
		free = available()
	}
	if free <= 0 {
		return nil
	}
	context := int64(min(cmp.Or(m.Context, least), cmp.Or(o.Context, least)))
	need := m.Weights + context*m.PerToken
	if need <= free {
		return nil
	}
	size := func(n int64) string { return hostmem.Size(int(n)) }
	fits := fmt.Sprintf("a file of the model with %.1f bits where this one has 16 would", 16*float64(free-context*m.PerToken)/float64(m.Weights))
	if rest := (free - m.Weights) / max(1, m.PerToken); rest > 0 {
		fits = fmt.Sprintf("with a Context of %d it would", rest)
	} else if free < context*m.PerToken {
		fits = "a smaller model would"
	}
	return fmt.Errorf("%w: the model takes %s, %s of weights and %s for a context of %d, and %s are free: it does not fit, %s",
		driver.ErrMemory, size(need), size(m.Weights), size(context*m.PerToken), context, size(free), fits)
}

// available returns the bytes that the host has free, 0 if that is not known.
func available() int64 {
	limit, err := hostmem.Limit()
	if err != nil {
		limit = 0
	}
	data, err := files.ReadAll("/proc/meminfo", 1<<20)
	if err != nil { // no Linux
		return int64(limit)
	}
	for line := range bytes.Lines(data) {
		f := bytes.Fields(line)
		if len(f) < 2 || string(f[0]) != "MemAvailable:" {
			continue
		}
		if kib, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
			return min(kib<<10, cmp.Or(int64(limit), kib<<10))
		}
	}
	return int64(limit)
}
