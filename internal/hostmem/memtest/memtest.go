// Package memtest bounds the memory that readers of files take.
package memtest

import (
	"runtime"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// The bound of a reader's memory before it has checked a claim against the budget.
const (
	perByte = 4
	slack   = 1 << 20
)

// Bound fails if f, which reads given bytes, allocates more than 4 times that, 1 MiB and the
// bytes of its hostmem.Make.
func Bound(t testing.TB, given int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	asked := hostmem.Asked()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	asked = hostmem.Asked() - asked
	if got, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(given)+slack+asked; got > most {
		t.Errorf("reading %d bytes allocates %d, want at most %d: %d for each byte, 1 MiB and %d that were checked", given, got, most, perByte, asked)
	}
}
