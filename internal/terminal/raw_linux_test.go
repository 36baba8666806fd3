package terminal

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRaw(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	flags := func() uint32 {
		s, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return s.Lflag & (unix.ICANON | unix.ECHO | unix.ISIG)
	}
	before := flags()
	restore, err := Raw(f)
	if err != nil || before == 0 || flags() != 0 {
		t.Fatalf("flags %#x, error %v", flags(), err)
	}
	if restore(); flags() != before {
		t.Errorf("flags %#x, want %#x", flags(), before)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := Raw(null); err == nil {
		t.Error("/dev/null is a terminal")
	}
}
