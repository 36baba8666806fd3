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
	"flag"
	"log"
	"net/http"

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
	defer tensor.Catch(&err) // 63 pixels are a *tensor.Error, a lost GPU a *tensor.DeviceError
	return tensor.Data[float32](m.apply(tensor.New(pixels, 1, 64)).Softmax(-1))
}

// ServeHTTP implements [http.Handler].
func (m MLP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var pixels []float32
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&pixels)
	var p []float32
	if err == nil {
		p, err = m.Classify(pixels)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(p)
}

func main() {
	flags.Parse()
	dev, why, err := device.Open(*on)
	check(err)
	m, err := load(*file)
	check(err)
	m = tree.To(m, dev) // requests' pixels are on no device: they follow
	check(tensor.Eval(m))
	log.Println("serving on", *address, "with", dev, why)
	check(http.ListenAndServe(*address, m))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
