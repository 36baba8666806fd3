package dist

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
)

// A message takes memory in proportion to its bytes, and no more than its bound, whatever it claims.
func TestMemoryOfMessages(t *testing.T) {
	whole := func(text string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	peers := whole(`{"Peers":[` + strings.Repeat(`{},`, 100_000) + `{}]}`)
	for name, c := range map[string]struct {
		data []byte
		want string // "": no error
	}{
		"a length of 4 GB":    {[]byte("\xff\xff\xff\xffx"), "a message of 4294967295 bytes, want at most"},
		"cut short":           {[]byte("\xff\x0f\x00\x00{"), "EOF"},
		"many ranks":          {peers, ""},
		"lists in lists":      {whole(strings.Repeat("[", 20_000)), "max depth"},
		"numbers for a list":  {whole(`{"Peers":` + strings.Repeat("1", 10_000) + `}`), "cannot unmarshal"},
		"a count that is far": {whole(`{"Count":99999999999999999999}`), "cannot unmarshal"},
	} {
		from, to := net.Pipe()
		go func() {
			to.Write(c.data)
			to.Close()
		}()
		var err error
		memtest.Bound(t, len(c.data), func() { _, err = next(from, 1000, time.Minute) })
		from.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := readMessage(bytes.NewReader(whole(strings.Repeat("x", maxMessage+1))), maxMessage); err == nil {
		t.Error("a greeting of more than maxMessage bytes is read")
	}
}

// Texts of other ranks cannot command a terminal or forge lines of a log.
func TestTextsOfRanksAreQuoted(t *testing.T) {
	const bad = "x\x1b[2J\nfake"
	p := peer{Host: bad, Addr: bad}
	p.quote()
	f := &Failure{Host: bad, Cause: bad}
	for _, text := range []string{p.Host, p.Addr, f.Error()} {
		if strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%q has control characters", text)
		}
	}
}
