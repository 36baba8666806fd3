package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ask sends a request and returns the answer.
func ask(server *httptest.Server, body string) (status int, answer string, err error) {
	r, err := http.Post(server.URL, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

// serve trains a model, loads it from its file, and starts a server of it.
func serve(t *testing.T) (model MLP, server *httptest.Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	dev, _, err := device.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	var read []byte
	for range 2 { // trained, then read
		if model, err = load(path); err != nil {
			t.Fatal(err)
		}
		before := read
		if read, err = os.ReadFile(path); err != nil || before != nil && string(read) != string(before) {
			t.Fatalf("the model's file has changed, or %v", err)
		}
	}
	server = httptest.NewServer(tree.To(model, dev))
	t.Cleanup(server.Close)
	return model, server
}

// TestServer sends many requests at once, and compares the answers with the model's.
func TestServer(t *testing.T) {
	model, server := serve(t)
	_, held, err := examples()
	if err != nil {
		t.Fatal(err)
	}
	all, err := data.Whole(held)
	if err != nil {
		t.Fatal(err)
	}
	want, err := tensor.Data[float32](model.apply(all.X).Softmax(-1)) // on the CPU
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := tensor.Data[float32](all.X)
	if err != nil {
		t.Fatal(err)
	}
	n := all.Y.Len()
	answers := make([][]float32, n)
	const clients = 16
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := c; i < n; i += clients {
				body, err := json.Marshal(pixels[i*64:][:64])
				if err != nil {
					t.Error(err)
					return
				}
				status, answer, err := ask(server, string(body))
				if err != nil || status != http.StatusOK || json.Unmarshal([]byte(answer), &answers[i]) != nil {
					t.Errorf("request %d: status %d, answer %q, %v", i, status, answer, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	right := 0
	for i, p := range answers {
		if !slices.EqualFunc(p, want[i*10:][:10], func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 }) {
			t.Errorf("answer %d is %v, want %v", i, p, want[i*10:][:10])
		}
		if slices.Index(p, slices.Max(p)) == int(all.Y.At(i).Item()) {
			right++
		}
	}
	if share := float64(right) / float64(n); share < 0.95 {
		t.Errorf("the server is right about %.3f of new digits, want 0.95", share)
	}
	path := filepath.Join(t.TempDir(), "server.png")
	if err := figure(all, answers).Save(path); err != nil {
		t.Fatal(err)
	}
	exampletest.CheckPicture(t, path, "server.png", 0.01)
}

// figure draws images with the server's answers.
func figure(all Example, answers [][]float32) *plot.Figure {
	var figures []*plot.Figure
	for i := range 12 {
		p := answers[i]
		f := plot.Image(tensor.Ones(8, 8).Sub(all.X.At(i).Reshape(8, 8)))
		f.Title = fmt.Sprintf("%d: %.0f %%", slices.Index(p, slices.Max(p)), 100*slices.Max(p))
		f.Width, f.Height = 100, 128
		figures = append(figures, f)
	}
	return plot.Grid(6, figures...)
}

// TestBadRequests checks that a bad request gets an error that says why, and that later requests
// are answered.
func TestBadRequests(t *testing.T) {
	server := httptest.NewServer(MLP{})
	defer server.Close()
	image := "[0.5" + strings.Repeat(",0.5", 63) + "]"
	for body, want := range map[string]string{
		"":                                       "want a list of 64 numbers: EOF",
		"[1, 2":                                  "unexpected EOF",
		`{"pixels": []}`:                         "cannot unmarshal",
		"[1, 2]":                                 "want 64 pixels, not 2",
		"null":                                   "want 64 pixels, not 0",
		image + " [1]":                           "text follows",
		image + "x":                              "text follows",
		"[-1," + image[1:]:                       "not 65",
		"[1.5" + image[4:]:                       "pixel 0 is 1.5: want 0 to 1",
		"[3e38" + image[4:]:                      "pixel 0 is 3e+38: want 0 to 1",
		"[" + strings.Repeat("1,", 1<<16) + "1]": "too large",
	} {
		status, answer, err := ask(server, body)
		if err != nil || status != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("the answer to %.20q is %d %q, %v, want %q", body, status, answer, err, want)
		}
	}
}

// A fault of the server is no fault of the request, and its text stays in the server's log.
func TestServerFault(t *testing.T) {
	var logged strings.Builder
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	nan := tensor.Full(math.NaN(), 10, 64)
	server := httptest.NewServer(MLP{nn.Linear{Weight: tensor.Zeros(64, 64)}, nn.Linear{Weight: nan}})
	defer server.Close()
	status, answer, err := ask(server, "[0.5"+strings.Repeat(",0.5", 63)+"]")
	if err != nil || status != http.StatusInternalServerError || answer != "the server failed\n" || !strings.Contains(logged.String(), "NaN") {
		t.Errorf("the answer is %d %q, %v, and the log %q", status, answer, err, logged.String())
	}
}

// A client that does not send its request loses the connection.
func TestSlowClient(t *testing.T) {
	s := newServer("", MLP{})
	s.ReadTimeout = 50 * time.Millisecond
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	defer s.Close()
	for _, text := range []string{"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n["} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, text)
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("after %q: %v, want the end of the connection", text, err)
		}
	}
}
