package interrupt

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/interrupt/interrupttest"
)

const (
	child = "TENSORKEN_TEST_CHILD" // the event that it raises
	again = "TENSORKEN_TEST_AGAIN" // set if it does so until it ends
	saved = 7                      // the exit status after work was saved
)

// A program goes on after the event that ends its context, and a second Ctrl-C ends it.
func TestContext(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	if event := os.Getenv(child); event != "" {
		ctx := Context()
		raise := func() {
			if err := interrupttest.Events[event](); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		raise()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			fmt.Println("the context does not end")
			os.Exit(1)
		}
		time.Sleep(100 * time.Millisecond) // saves
		for range 100 {
			if os.Getenv(again) == "" {
				break
			}
			raise()
			time.Sleep(10 * time.Millisecond)
		}
		os.Exit(saved)
	}
	run := func(event string, env ...string) (status int, output string) {
		c := exec.Command(os.Args[0], "-test.run=^TestContext$")
		c.Env = append(append(os.Environ(), child+"="+event), env...)
		out, _ := c.CombinedOutput()
		return c.ProcessState.ExitCode(), string(out)
	}
	for event := range interrupttest.Events {
		if status, out := run(event); status != saved {
			t.Errorf("after %s the program ends with status %d, %s", event, status, out)
		}
	}
	if status, out := run("Ctrl-C", again+"=1"); status == saved || status == 1 {
		t.Errorf("a second Ctrl-C does not end the program: status %d, %s", status, out)
	}
}
