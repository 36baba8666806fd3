package hostmem

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// resident returns the bytes of memory that the process has for itself.
func resident(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("RssAnon:"))
	kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// Memory that a process has used takes no pages after it was given back.
func TestGiveBack(t *testing.T) {
	data := make([]byte, 32<<20)
	for i := range data {
		data[i] = 1
	}
	clear(data)
	before := resident(t)
	giveBack(data)
	if freed := before - resident(t); freed < 30<<20 {
		t.Errorf("%d bytes are given back, want about %d", freed, len(data))
	}
	if data[0] != 0 || data[len(data)-1] != 0 {
		t.Error("the memory is not 0")
	}
}
