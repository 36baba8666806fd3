package simd

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestLevels runs the other tests of this package at each level.
func TestLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of each level")
	}
	if os.Getenv(Variable) != "" {
		return
	}
	for _, level := range Levels()[1:] {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.short="+strconv.FormatBool(testing.Short()), "-step", strconv.Itoa(*stepFlag))
			cmd.Env = append(os.Environ(), Variable+"="+level)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestLevelVariable(t *testing.T) {
	if Err != nil {
		t.Fatal(Err)
	}
	if want := os.Getenv(Variable); want != "" && Level != want {
		t.Errorf("level %s, want %s", Level, want)
	}
	t.Setenv(Variable, "sse9")
	err := start()
	if err == nil || !strings.Contains(err.Error(), `TENSORKEN_SIMD: "sse9" is none of `) || !strings.Contains(err.Error(), "go") {
		t.Errorf("an unknown level: %v", err)
	}
}
