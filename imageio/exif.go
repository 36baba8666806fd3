package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// An orientation is where EXIF says that an image's first row and column are, from 1 to 8; 1
// is an upright image.
type orientation int

// The tags of the directory of an EXIF block or a TIFF file that are read.
const (
	tagOrientation = 0x112
	tagSamples     = 0x115
	tagPlanar      = 0x11c
)

// orientationOf returns the orientation of a TIFF structure, such as EXIF data, 1 if it has
// none.
func orientationOf(tiff []byte) orientation {
	if o := firstValue(tiff, tagOrientation, 1); 1 <= o && o <= 8 {
		return orientation(o)
	}
	return 1
}

// steps returns the offset in pixels of the first pixel of an image of h × w pixels in the
// upright image, and by how much the offset grows from a row or column to the next.
func (o orientation) steps(h, w int) (offset, row, column int) {
	row, column = w, 1
	if o.swaps() {
		row, column = 1, h
	}
	switch o {
	case 2, 3, 7, 8: // columns are reversed
		offset, column = offset+(w-1)*column, -column
	}
	switch o {
	case 3, 4, 6, 7: // rows are reversed
		offset, row = offset+(h-1)*row, -row
	}
	return offset, row, column
}

// swaps reports whether rows become columns.
func (o orientation) swaps() bool { return o >= 5 }

// firstValue returns the first value of a tag, an integer, in the first directory of a TIFF
// structure; or absent.
func firstValue(tiff []byte, tag uint16, absent int) int {
	const (
		head  = 8
		entry = 12
	)
	var order binary.ByteOrder
	switch {
	case len(tiff) < head:
		return absent
	case tiff[0] == 'I':
		order = binary.LittleEndian
	default:
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return absent
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			return absent
		}
		e := entries[:entry]
		entries = entries[entry:]
		size := map[uint16]int64{1: 1, 3: 2, 4: 4}[order.Uint16(e[2:])] // BYTE, SHORT, LONG
		if order.Uint16(e) != tag || size == 0 {
			continue
		}
		value := e[8:]
		if size*int64(order.Uint32(e[4:])) > int64(len(value)) { // the values are elsewhere
			at := int64(order.Uint32(value))
			if at+size > int64(len(tiff)) {
				return absent
			}
			value = tiff[at:]
		}
		switch size {
		case 1:
			return int(value[0])
		case 2:
			return int(order.Uint16(value))
		}
		return int(order.Uint32(value))
	}
	return absent
}

// exifPrefix begins EXIF data in JPEG and, by mistake, elsewhere.
const exifPrefix = "Exif\x00\x00"

// segments yields the segments of a JPEG before its samples: the marker and the data.
func segments(file []byte) iter.Seq2[byte, []byte] {
	const startOfScan = 0xda
	return func(yield func(byte, []byte) bool) {
		for at := 2; at+4 <= len(file); {
			if file[at] != 0xff {
				return
			}
			marker := file[at+1]
			if marker == 0xff { // fill byte
				at++
				continue
			}
			n := int(binary.BigEndian.Uint16(file[at+2:]))
			if marker == startOfScan || n < 2 || at+2+n > len(file) || !yield(marker, file[at+4:at+2+n]) {
				return
			}
			at += 2 + n
		}
	}
}

// isProgressive reports whether a JPEG is.
func isProgressive(file []byte) bool {
	const startOfProgressiveFrame = 0xc2
	for marker := range segments(file) {
		if marker == startOfProgressiveFrame {
			return true
		}
	}
	return false
}

func exifOfJPEG(file []byte) []byte {
	const app1 = 0xe1
	for marker, data := range segments(file) {
		if exif, ok := bytes.CutPrefix(data, []byte(exifPrefix)); ok && marker == app1 {
			return exif
		}
	}
	return nil
}

func exifOfPNG(file []byte) []byte {
	const head, checksum = 8, 4
	for at := int64(len("\x89PNG\r\n\x1a\n")); at+head <= int64(len(file)); {
		n, data := int64(binary.BigEndian.Uint32(file[at:])), file[at+head:]
		if string(file[at+4:at+head]) == "eXIf" {
			return bytes.TrimPrefix(data[:min(n, int64(len(data)))], []byte(exifPrefix))
		}
		at += head + n + checksum
	}
	return nil
}

// chunk returns the data of the first chunk of a WebP that has a name, or nil.
func chunk(file []byte, name string) []byte {
	const head = 8
	for at := int64(12); at+head <= int64(len(file)); {
		n, data := int64(binary.LittleEndian.Uint32(file[at+4:])), file[at+head:]
		if string(file[at:at+4]) == name {
			return data[:min(n, int64(len(data)))]
		}
		at += head + n + n&1
	}
	return nil
}

func exifOfWebP(file []byte) []byte {
	return bytes.TrimPrefix(chunk(file, "EXIF"), []byte(exifPrefix))
}

// refuseWebP returns an error for animations, and for files that are shorter than they say:
// the decoder allocates the size that they state.
func refuseWebP(file []byte) error {
	if n := int64(binary.LittleEndian.Uint32(file[4:])); n+8 > int64(len(file)) {
		return fmt.Errorf("it should have %d bytes, but has %d: cut short?", n+8, len(file))
	}
	const animated = 2
	if flags := chunk(file, "VP8X"); len(flags) > 0 && flags[0]&animated != 0 {
		return errors.New("it is animated: only still images can be read")
	}
	return nil
}

// refuseTIFF returns an error for channels stored apart, which the decoder takes for
// interleaved ones.
func refuseTIFF(file []byte) error {
	const apart = 2
	if firstValue(file, tagPlanar, 1) == apart && firstValue(file, tagSamples, 1) > 1 {
		return errors.New("its channels are stored one after the other: only interleaved channels can be read")
	}
	return nil
}
