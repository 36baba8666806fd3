// Package dynlibtest makes a library for tests.
package dynlibtest

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"runtime"
)

// Empty returns a Windows library (DLL) without functions, for this processor.
func Empty() []byte {
	machines := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}
	const page, sector = 0x1000, 0x200      // the alignments in memory and in the file
	dos := [64]byte{0: 'M', 1: 'Z', 60: 64} // the DOS header; byte 60 is the offset of the PE header
	head := pe.OptionalHeader64{
		Magic: 0x20b, ImageBase: 0x180000000, SectionAlignment: page, FileAlignment: sector,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfInitializedData: sector, SizeOfImage: 2 * page, SizeOfHeaders: sector,
		Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, DllCharacteristics: pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT, NumberOfRvaAndSizes: 16,
	}
	var b bytes.Buffer
	for _, part := range []any{
		dos, []byte("PE\x00\x00"),
		pe.FileHeader{
			Machine: machines[runtime.GOARCH], NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(head)),
			Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
		},
		head,
		pe.SectionHeader32{
			Name: [8]uint8{'.', 'd', 'a', 't', 'a'}, VirtualSize: sector, VirtualAddress: page, SizeOfRawData: sector, PointerToRawData: sector,
			Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ,
		},
	} {
		binary.Write(&b, binary.LittleEndian, part) // never fails: it writes to memory
	}
	return append(b.Bytes(), make([]byte, 2*sector-b.Len())...)
}
