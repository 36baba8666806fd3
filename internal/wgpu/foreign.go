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

// formats are those of libraries, each with the system that loads it and how to
// read the processors that a file is for: none if it is of another format.
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
		if err != nil || peProcessors[f.Machine] == "" { // its header has no magic number
			return nil
		}
		return []string{peProcessors[f.Machine]}
	}},
}

// Processors by the names that GOARCH has for them.
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

// foreign says for which other system or processor a library is, "" if it is
// for this one or cannot be read. Systems that fail to load such a file say
// that there is none.
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
