//go:build !js

package wgpu

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// header returns the start of a library, consecutive structures.
func header(order binary.ByteOrder, parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		if err := binary.Write(&b, order, p); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func elfHeader(m elf.Machine) []byte {
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(m), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	return header(binary.LittleEndian, h)
}

func machoHeader(c macho.Cpu) []byte {
	return header(binary.LittleEndian, macho.FileHeader{Magic: macho.Magic64, Cpu: c, Type: macho.TypeDylib}, uint32(0))
}

// fatHeader returns the header of a file with a library for each processor.
func fatHeader(cpus ...macho.Cpu) []byte {
	arches, libraries := []any{macho.MagicFat, uint32(len(cpus))}, []byte{}
	start := 8 + 20*len(cpus)
	for i, c := range cpus {
		one := machoHeader(c)
		arches = append(arches, macho.FatArchHeader{Cpu: c, SubCpu: uint32(i), Offset: uint32(start + len(libraries)), Size: uint32(len(one))})
		libraries = append(libraries, one...)
	}
	return append(header(binary.BigEndian, arches...), libraries...)
}

func peHeader(machine uint16) []byte {
	var dos [96]byte
	copy(dos[:], "MZ")
	dos[0x3c] = byte(len(dos))
	return header(binary.LittleEndian, dos, [4]byte{'P', 'E'}, pe.FileHeader{Machine: machine})
}

// The error for a library built for another machine says so; the system's own says that
// there is no such file or that it is not a library.
func TestSearchForeign(t *testing.T) {
	const asSystem = "cannot open shared object file: No such file or directory"
	for _, c := range []struct {
		what         string
		library      []byte
		goos, goarch string
		want         string
	}{
		{"ELF", elfHeader(elf.EM_AARCH64), "linux", "amd64", "it is for arm64, this program is for amd64"},
		{"ELF", elfHeader(elf.EM_X86_64), "linux", "arm64", "it is for amd64, this program is for arm64"},
		{"ELF", elfHeader(elf.EM_386), "linux", "amd64", "it is for 386, this program is for amd64"},
		{"ELF", elfHeader(elf.EM_S390), "linux", "amd64", "it is for EM_S390, this program is for amd64"},
		{"ELF", elfHeader(elf.EM_X86_64), "linux", "amd64", asSystem},
		{"ELF", elfHeader(elf.EM_X86_64), "darwin", "amd64", "it is for linux, this program is for darwin"},
		{"Mach-O", machoHeader(macho.CpuArm64), "darwin", "amd64", "it is for arm64, this program is for amd64"},
		{"Mach-O", machoHeader(macho.CpuArm64), "darwin", "arm64", asSystem},
		{"Mach-O", machoHeader(macho.CpuArm64), "linux", "arm64", "it is for darwin, this program is for linux"},
		{"universal", fatHeader(macho.CpuAmd64, macho.CpuArm64), "darwin", "arm64", asSystem},
		{"universal", fatHeader(macho.CpuAmd64, macho.Cpu386), "darwin", "arm64", "it is for amd64 and 386, this program is for arm64"},
		{"PE", peHeader(pe.IMAGE_FILE_MACHINE_ARM64), "windows", "amd64", "it is for arm64, this program is for amd64"},
		{"PE", peHeader(pe.IMAGE_FILE_MACHINE_AMD64), "windows", "amd64", asSystem},
		{"PE", peHeader(pe.IMAGE_FILE_MACHINE_AMD64), "linux", "amd64", "it is for windows, this program is for linux"},
		{"cut", elfHeader(elf.EM_AARCH64)[:40], "linux", "amd64", asSystem},
		{"empty", nil, "linux", "amd64", asSystem},
		{"text", []byte("no library, but text of more than sixty-four bytes, as a script or a README"), "linux", "amd64", asSystem},
		{"zeros", make([]byte, 1000), "linux", "amd64", asSystem},
	} {
		name := filepath.Join(t.TempDir(), "lib")
		if err := os.WriteFile(name, c.library, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := search(searchEnv{goos: c.goos, goarch: c.goarch, named: name, env: true}, func(path string) (Library, error) {
			return nil, errors.New(path + ": " + asSystem)
		})
		want := "no WebGPU library: TENSORKEN_WEBGPU_LIB is " + name + ": " + c.want + ". "
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("search for %s/%s with %s: got %v, want %s…", c.goos, c.goarch, c.what, err, want)
		}
	}
}
