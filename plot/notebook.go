package plot

import (
	"crypto/rand"
	"encoding/gob"
	"fmt"
	"os"
	"sync"

	"github.com/tensorken/tensorken/tensor"
)

// pipeVariable names the pipe to GoNB, a kernel that runs Go programs in Jupyter notebooks.
const pipeVariable = "GONB_PIPE"

// inNotebook reports whether the program runs in a notebook of GoNB.
func inNotebook() bool { return os.Getenv(pipeVariable) != "" }

// Show displays the figure below the cell of a notebook of GoNB. Elsewhere it prints the
// figure to standard output, as [Figure.Print] does.
func (f *Figure) Show() error {
	if !inNotebook() {
		return f.Print(os.Stdout)
	}
	html, err := f.HTML()
	if err != nil {
		return err
	}
	return display(html, "")
}

// maxShown is the greatest number of elements that Show lists.
const maxShown = 400

// Show displays a tensor of at most 400 elements as a table or text, another one as a heat
// map, in the place that [Figure.Show] describes.
func Show(t tensor.Tensor) error {
	checkPresent("Show", t)
	if t.Len() > maxShown {
		f := Heatmap(t)
		f.Title = caption(t)
		return f.Show()
	}
	if !inNotebook() {
		_, err := fmt.Printf("%+v\n", t)
		return err
	}
	html, err := Table(t)
	if err != nil {
		return err
	}
	return display(html, "")
}

// Watch returns a function for the field Watch of a
// [github.com/tensorken/tensorken/train.Loop]. In a notebook of GoNB it shows the [Metrics]
// of a history below the cell, and replaces them at each call; elsewhere it does nothing.
//
//	loop.Watch = plot.Watch[train.Metrics]()
func Watch[M ~map[string]float64]() func(history []M) error {
	id := "tensorken-" + rand.Text()
	return func(history []M) error {
		if !inNotebook() {
			return nil
		}
		html, err := Metrics(history).HTML()
		if err != nil {
			return err
		}
		return display(html, id)
	}
}

// display shows HTML in the notebook. Later HTML with the same id, if it is not empty,
// replaces it.
func display(html, id string) error {
	k, err := connect()
	if err == nil {
		err = k.display(html, id)
	}
	if err != nil {
		return fmt.Errorf("plot: notebook: %w", err)
	}
	return nil
}

// connect opens the pipe to GoNB, once in a process: GoNB reads one sequence of messages.
var connect = sync.OnceValues(func() (*notebook, error) { return openNotebook(os.Getenv(pipeVariable)) })

// A notebook is a connection to GoNB.
type notebook struct {
	mu   sync.Mutex
	pipe *os.File
	enc  *gob.Encoder
}

// A message is GoNB's unit of display: data by MIME type. It reads gob, where field names
// count and names of types do not. The type of Data is defined here, so that GoNB can tell
// its definition from the package gonbui's, which may write to the same pipe.
type message struct {
	Data      contents
	DisplayID string
}

type contents map[string]any

// openNotebook opens the pipe, which waits until GoNB has opened the other end.
func openNotebook(path string) (*notebook, error) {
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return &notebook{pipe: pipe, enc: gob.NewEncoder(pipe)}, nil
}

// display sends HTML and waits until GoNB has read it: GoNB drops unread messages when the
// program ends.
func (n *notebook) display(html, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.enc.Encode(message{contents{"text/html": html}, id}); err != nil {
		return err
	}
	waitUntilRead(n.pipe)
	return nil
}
