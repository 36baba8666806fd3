package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestStart follows docs/start.md: it trains with the first program of the page, resumes,
// and asks the second one.
func TestStart(t *testing.T) {
	blocks := goBlock.FindAllStringSubmatch(text(t, "docs/start.md"), -1)
	if len(blocks) != 2 {
		t.Fatalf("docs/start.md has %d Go programs, want one that trains and one that serves", len(blocks))
	}
	dir := t.TempDir()
	build := func(name, source string) string {
		return buildProgram(t, filepath.Join(dir, name), source)
	}
	digits := goTool(t, "run", "./cmd/tensorken", "digits")
	train := func(path string) string {
		cmd := exec.Command(path)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(digits)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("training: %v\n%s", err, out)
		}
		return string(out)
	}
	program := build("train", blocks[0][1])
	if out := train(program); !strings.Contains(out, "epoch 20/20") {
		t.Errorf("training printed\n%s", out)
	}
	if out := train(program); !strings.Contains(out, "nothing left to do") || strings.Contains(out, "epoch 20/20") {
		t.Errorf("trained again, a finished run printed\n%s", out)
	}

	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	const inPage = "localhost:8080"
	if !strings.Contains(blocks[1][1], inPage) {
		t.Fatalf("the server does not listen on %s:\n%s", inPage, blocks[1][1])
	}
	server := exec.Command(build("serve", strings.Replace(blocks[1][1], inPage, address, 1)))
	var log bytes.Buffer
	server.Dir, server.Stderr = dir, &log
	server.Env = append(os.Environ(), "TENSORKEN_DEVICE=cpu")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	// ask returns the status and the answer to pixels.
	ask := func(pixels []string) (int, string) {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			r, err := http.Post("http://"+address, "application/json", strings.NewReader("["+strings.Join(pixels, ",")+"]"))
			if err != nil {
				if time.Now().After(end) {
					t.Fatalf("no answer: %v", err)
				}
				continue
			}
			b, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			return r.StatusCode, string(b)
		}
	}
	right := 0
	lines := strings.Split(strings.TrimSpace(digits), "\n")[:50]
	for _, line := range lines {
		fields := strings.Split(line, ",")
		for i, pixel := range fields[:64] {
			x, err := strconv.Atoi(pixel)
			if err != nil {
				t.Fatal(err)
			}
			fields[i] = fmt.Sprint(float64(x) / 16) // as the program scales them
		}
		status, answer := ask(fields[:64])
		var p []float64
		if err := json.Unmarshal([]byte(answer), &p); status != http.StatusOK || err != nil || len(p) != 10 {
			t.Fatalf("the server answered %d, %s", status, answer)
		}
		best := 0
		for i := range p {
			if p[i] > p[best] {
				best = i
			}
		}
		if string(rune('0'+best)) == fields[64] {
			right++
		}
	}
	if right < 45 {
		t.Errorf("the server got %d of %d digits right", right, len(lines))
	}
	if status, answer := ask([]string{"1", "2"}); status != http.StatusBadRequest || !strings.Contains(answer, "shape") {
		t.Errorf("the server answered 2 pixels with %d, %s", status, answer)
	}
}
