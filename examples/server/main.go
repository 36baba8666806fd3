// Command server classifies handwritten digits over HTTP, any number of requests at the same
// time: a tensor never changes, so goroutines share the model without locks.
//
// A request has 64 pixels, 8 rows from 0 to 1, as JSON; the answer has the probability of
// each digit:
//
//	curl localhost:8080 -d "[0.5$(printf ',0.5%.0s' {1..63})]"
//
// The model is read from a file; a new one is trained, in a second, if that does not exist.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

var (
	on      = flag.String("device", "", device.Usage)
	address = flag.String("address", "localhost:8080", "where to listen")
	file    = flag.String("model", "server.safetensors", "the model's file")
)

// An MLP is a network with one hidden layer.
type MLP struct{ Hidden, Out nn.Linear }

func (m MLP) apply(x tensor.Tensor) tensor.Tensor { return m.Out.Apply(m.Hidden.Apply(x).ReLU()) }

// Classify returns the probability of each digit.
func (m MLP) Classify(pixels []float32) (p []float32, err error) {
	defer tensor.Catch(&err) // misuse is a *tensor.Error, a lost GPU a *tensor.DeviceError
	return tensor.Data[float32](m.apply(tensor.New(pixels, 1, 64)).Softmax(-1))
}

// ServeHTTP implements [http.Handler]. Mistakes in a request are told to the client, failures of
// the server to its log.
func (m MLP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pixels, err := read(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := m.Classify(pixels)
	var answer []byte
	if err == nil {
		answer, err = json.Marshal(p) // an error if a probability is NaN
	}
	if err != nil {
		log.Print(err)
		http.Error(w, "the server failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(answer)
}

// read returns the pixels of a request.
func read(w http.ResponseWriter, r *http.Request) (pixels []float32, err error) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
	if err := d.Decode(&pixels); err != nil {
		return nil, fmt.Errorf("want a list of 64 numbers: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("want one list: text follows it")
	}
	if len(pixels) != 64 {
		return nil, fmt.Errorf("want 64 pixels, not %d", len(pixels))
	}
	for i, x := range pixels {
		if !(x >= 0 && x <= 1) {
			return nil, fmt.Errorf("pixel %d is %v: want 0 to 1", i, x)
		}
	}
	return pixels, nil
}

func main() {
	flags.Parse()
	dev, why, err := device.Open(*on)
	check(err)
	m, err := load(*file)
	check(err)
	m = tree.To(m, dev) // pixels are on no device: Apply computes on the weights' device
	check(tensor.Eval(m))
	log.Println("serving on", *address, "with", dev, why)
	check(newServer(*address, m).ListenAndServe())
}

// newServer returns a server that ends requests of clients that do not send or read.
func newServer(address string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: address, Handler: h,
		ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
