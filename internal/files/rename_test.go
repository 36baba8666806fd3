package files

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// held names the file that TestHold, in another process, has open.
const held = "TENSORKEN_TEST_HELD"

func TestHold(t *testing.T) {
	path := os.Getenv(held)
	if path == "" {
		t.Skip("runs in TestReplaceOpen's process")
	}
	f, err := Open(path)
	fmt.Println("opened", err)
	time.Sleep(time.Second)
	f.Close()
}

// TestReplaceOpen replaces a file that another process reads for a second, and one that a reader
// opens every millisecond.
func TestReplaceOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) error {
		return Replace(path, func(w *bufio.Writer) error {
			_, err := w.WriteString(text)
			return err
		})
	}
	if err := write("old"); err != nil {
		t.Fatal(err)
	}
	reader := exec.Command(os.Args[0], "-test.run=^TestHold$")
	reader.Env = append(os.Environ(), held+"="+path)
	out, err := reader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "opened <nil>\n" {
		t.Fatalf("the reader says %q, %v", line, err)
	}
	if err := write("new"); err != nil {
		t.Errorf("Replace of a file that is read: %v", err)
	}
	reader.Wait()

	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			if b, err := ReadAll(path, 10); err != nil || string(b) != "new" {
				t.Errorf("a reader beside Replace has %q, %v", b, err)
			}
		}
	}()
	for range 50 {
		if err := write("new"); err != nil {
			t.Errorf("Replace beside a reader: %v", err)
		}
	}
	close(done)
	<-stopped
}
