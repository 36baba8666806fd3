package llm_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/tensorken/tensorken/llm"
)

// resident returns the bytes of memory that the process has for itself.
func resident(t *testing.T) int {
	t.Helper()
	for range 2 { // finalizers of the first free more
		debug.FreeOSMemory()
	}
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("RssAnon:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		t.Skip("the system does not tell RssAnon")
	}
	kib, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// Neither tokens nor loads keep memory: 100 loads that kept their weights would take 9 MB each time.
func TestMemoryFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("generates many tokens")
	}
	m := open(t, "../models/testdata/llama_gqa", nil)
	write := func(m *llm.Model, n int) {
		o := &llm.GenerateOptions{MaxTokens: n, Shift: true}
		if _, ids := collect(t, m.GenerateIDs(context.Background(), []int32{5, 6, 7}, o)); len(ids[0]) != n {
			t.Fatalf("%d tokens, want %d", len(ids[0]), n)
		}
	}
	load := func(n int) {
		for range n {
			m, err := llm.Open("../models/testdata/llama_gqa", nil)
			if err != nil {
				t.Fatal(err)
			}
			write(m, 3)
			m.Close()
		}
	}
	times := 100
	if testing.Short() {
		times = 20
	}
	for name, repeat := range map[string]func(n int){"tokens": func(n int) { write(m, 20*n) }, "loads": load} {
		repeat(times)
		least := math.MaxInt // the pools of memory grow once or twice, a leak each time
		for range 3 {
			before := resident(t)
			repeat(times)
			least = min(least, resident(t)-before)
		}
		if least > 4<<20 {
			t.Errorf("%s: the process grows by %d KiB or more each time", name, least>>10)
		}
	}
}
