// Command basics shows most of package tensor on a page.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
)

var on = flag.String("device", "", device.Usage)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	tour()
}
