//go:build !js

package wgpu

import (
	"cmp"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// formats lists the formats of libraries, with the system that loads each and a function
// that reads a file's processors: none if the file has another format.
var formats = []struct {
	goos       string
	processors func(io.ReaderAt) []string
}{
	{"linux", func(r io.ReaderAt) []string {
		f, err := elf.NewFile(r)
		if err != nil {
			return nil
		}
		return []string{cmp.Or(elfProcessors[f.Machine], f.Machine.String())}
	}},
	{"darwin", func(r io.ReaderAt) (list []string) {
		if f, err := macho.NewFile(r); err == nil {
			return []string{cmp.Or(machoProcessors[f.Cpu], f.Cpu.String())}
		}
		f, err := macho.NewFatFile(r)
		if err != nil {
			return nil
		}
		for _, a := range f.Arches {
			list = append(list, cmp.Or(machoProcessors[a.Cpu], a.Cpu.String()))
		}
		return list
	}},
	{"windows", func(r io.ReaderAt) []string {
		f, err := pe.NewFile(r)
		if err != nil || peProcessors[f.Machine] == "" { // the header has no magic number
			return nil
		}
		return []string{peProcessors[f.Machine]}
	}},
}

// Processors by GOARCH names.
var (
	elfProcessors = map[elf.Machine]string{
		elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	}
	machoProcessors = map[macho.Cpu]string{
		macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64", macho.Cpu386: "386", macho.CpuArm: "arm",
	}
	peProcessors = map[uint16]string{
		pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64",
		pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_ARMNT: "arm",
	}
)

// foreign returns the system or processor of a library built for another machine, "" for
// other files. A system that fails to load such a file reports that it does not exist.
func foreign(path, goos, goarch string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for _, f := range formats {
		list := f.processors(file)
		if list == nil {
			continue
		}
		if f.goos != goos {
			return fmt.Sprintf("it is for %s, this program is for %s", f.goos, goos)
		}
		if !slices.Contains(list, goarch) {
			return fmt.Sprintf("it is for %s, this program is for %s", strings.Join(list, " and "), goarch)
		}
		return ""
	}
	return ""
}
