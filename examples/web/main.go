// Command web trains networks in the browser. It compiles the programs of its pages to
// WebAssembly, with the go command, and serves them:
//
//	go run ./examples/web
//
// With -o it writes the site to a folder instead, compressed as well as can be, for any
// server of static files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/internal/interrupt"
)

var (
	address = flag.String("addr", "localhost:8080", "where to listen; browsers give GPUs only to pages from localhost or https")
	output  = flag.String("o", "", "write the site to this folder and serve nothing")
)

func main() {
	log.SetFlags(0)
	flags.Parse()
	if err := run(interrupt.Context(), *address, *output); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// run builds the site, and serves it until ctx is cancelled if there is no folder for it.
func run(ctx context.Context, address, folder string) error {
	if folder != "" {
		return build(ctx, folder, smallest, log.Printf)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w: choose another address by -addr", err)
	}
	defer l.Close()
	folder, err = os.MkdirTemp("", "tensorken-web-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := build(ctx, folder, fast, log.Printf); err != nil {
		return err
	}
	h, err := newSite(folder)
	if err != nil {
		return err
	}
	log.Printf("serving http://%v, Ctrl-C ends it", l.Addr())
	return serve(ctx, l, h)
}

// serve answers requests until ctx is cancelled.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := newServer(h)
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		WriteTimeout: 5 * time.Minute, // of a program over a slow line
	}
}
