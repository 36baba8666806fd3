// The command _asm writes the assembly of package simd for amd64, and the Go
// declarations of its routines: a pair of files for each entry of files. Run it by
// go generate in the folder above.
package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// files has what writes each pair of files, by the name before _amd64.
var files = map[string]func(*build.Context){
	"arithmetic": arithmetic,
}

func main() {
	log.SetFlags(0)
	for name, write := range files {
		if err := generate(filepath.Join("..", name+"_amd64"), write); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

func generate(path string, write func(*build.Context)) error {
	c := build.NewContext()
	c.ConstraintExpr("!noasm")
	write(c)
	f, err := c.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return err
	}
	config := printer.Config{Name: "internal/simd/_asm", Pkg: "simd"}
	asm, err := printer.NewGoAsm(config).Print(f)
	if err != nil {
		return err
	}
	stubs, err := printer.NewStubs(config).Print(f)
	if err != nil {
		return err
	}
	// The signatures of avo can name no type of package unsafe: *byte stands for
	// unsafe.Pointer.
	stubs = bytes.ReplaceAll(stubs, []byte("*byte"), []byte("unsafe.Pointer"))
	stubs = bytes.Replace(stubs, []byte("package simd\n"), []byte("package simd\n\nimport \"unsafe\"\n"), 1)
	if err := os.WriteFile(path+".s", asm, 0o666); err != nil {
		return err
	}
	return os.WriteFile(path+".go", stubs, 0o666)
}
