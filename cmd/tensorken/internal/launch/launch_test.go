package launch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is the program of ranks that tests launch.
func TestMain(m *testing.M) {
	switch how := os.Getenv("TENSORKEN_TEST_LAUNCH"); how {
	case "":
		os.Exit(m.Run())
	default:
		fmt.Printf("%s of %s: %s\nlast", os.Getenv("RANK"), os.Getenv("WORLD_SIZE"), strings.Join(os.Args[1:], " "))
		fails := os.Getenv("RANK") == "1" && how != "fine"
		if flag := os.Getenv("TENSORKEN_TEST_FLAG"); fails && how == "once" {
			_, err := os.Stat(flag)
			fails = err != nil
			os.WriteFile(flag, nil, 0o600)
		}
		if fails {
			fmt.Fprintln(os.Stderr, "no luck")
			os.Exit(7)
		}
		if how == "hangs" || how == "waits" {
			time.Sleep(time.Minute)
		}
	}
}

func TestLaunch(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	for how, c := range map[string]struct {
		restarts int
		status   string // of the error
		runs     int
	}{
		"fine":  {0, "", 1},
		"fails": {2, "launch: rank 1: exit status 7", 3},
		"once":  {2, "", 2},
		"hangs": {0, "launch: rank 1: exit status 7", 1}, // the others do not end by themselves
	} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("TENSORKEN_TEST_LAUNCH", how)
			t.Setenv("TENSORKEN_TEST_FLAG", t.TempDir()+"/failed")
			var out, errOut bytes.Buffer
			j := job{ranks: 3, restarts: c.restarts, grace: 3 * time.Second, args: []string{os.Args[0], "a", "-b"}}
			err := j.run(context.Background(), &out, &errOut)
			if text := fmt.Sprint(err); (c.status == "") != (err == nil) || !strings.HasPrefix(text, c.status) && err != nil {
				t.Errorf("%v, want %q", err, c.status)
			}
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			slices.Sort(got)
			var want []string
			for range c.runs {
				for i := range 3 {
					want = append(want, fmt.Sprintf("[%d] %d of 3: a -b", i, i), fmt.Sprintf("[%d] last", i))
				}
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("printed\n%q, want\n%q", got, want)
			}
			if how == "fails" && strings.Count(errOut.String(), "[1] no luck") != 3 {
				t.Errorf("printed on standard error\n%s", errOut.String())
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for _, j := range []job{{}, {ranks: 1, restarts: -1}, {ranks: 1, grace: -1}, {ranks: maxRanks + 1}} {
		if err := j.run(t.Context(), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "want 1 to 1024 ranks") {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// A context that ends, as at Ctrl-C, ends all ranks.
func TestCancel(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	t.Setenv("TENSORKEN_TEST_LAUNCH", "waits")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	j := job{ranks: 1, restarts: 3, grace: time.Second, args: []string{os.Args[0]}}
	start := time.Now()
	if err := j.run(ctx, &out, &out); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
