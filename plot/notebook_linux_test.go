package plot

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// TestNotebook reads a program's messages from a named pipe, as GoNB does.
func TestNotebook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pipeVariable, path)
	messages := make(chan []displayData)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
		}
		defer f.Close()
		messages <- received(t, f)
	}()
	watch := Watch[map[string]float64]()
	history := []map[string]float64{{"loss": 2}, {"loss": 1}}
	for _, err := range []error{Show(tensor.Eye(2)), Show(tensor.Zeros(30, 30)), Line(tensor.Arange(3)).Show(), watch(history[:1]), watch(history)} {
		if err != nil {
			t.Error(err)
		}
	}
	k, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	got := <-messages
	if len(got) != 5 {
		t.Fatalf("GoNB receives %d messages, want 5", len(got))
	}
	for i, want := range []string{"<table", `alt="float32 [30 30] on cpu"`, "<img", "<img", "<img"} {
		if html, ok := got[i].Data["text/html"].(string); !ok || !strings.Contains(html, want) {
			t.Errorf("message %d is %.200v, want HTML with %s", i, got[i].Data, want)
		}
	}
	if got[0].DisplayID != "" || got[3].DisplayID == "" || got[3].DisplayID != got[4].DisplayID {
		t.Errorf("the messages have the ids %q, %q, %q; want none, and one for all of Watch", got[0].DisplayID, got[3].DisplayID, got[4].DisplayID)
	}
	if err := Line(tensor.Arange(3)).Show(); err == nil || !strings.HasPrefix(err.Error(), "plot: notebook: ") {
		t.Errorf("Show after the pipe was closed: %v", err)
	}
}

// A message is sent when it was read: the pipe is empty then.
func TestWaitUntilRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	const pause = 50 * time.Millisecond
	read := make(chan bool)
	go func() {
		time.Sleep(pause)
		r.Read(make([]byte, 200))
		close(read)
	}()
	start := time.Now()
	waitUntilRead(w)
	if took := time.Since(start); took < pause/2 {
		t.Errorf("waitUntilRead returned after %v, before the pipe was read", took)
	}
	<-read
}
