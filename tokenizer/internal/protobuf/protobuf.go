// Package protobuf reads the fields of protocol buffers, the form of SentencePiece's models.
package protobuf

import (
	"encoding/binary"
	"errors"
)

// ErrFields says that the bytes are no message.
var ErrFields = errors.New("it is no model of SentencePiece: its fields cannot be read")

// Fields calls f with the fields of a message of protocol buffers: with a number, or with bytes.
func Fields(b []byte, f func(field int, n uint64, data []byte) error) error {
	for len(b) > 0 {
		key, size := binary.Uvarint(b)
		if size <= 0 || key>>3 == 0 {
			return ErrFields
		}
		b = b[size:]
		var n uint64
		var data []byte
		switch key & 7 {
		case 0:
			if n, size = binary.Uvarint(b); size <= 0 {
				return ErrFields
			}
		case 1:
			size = 8
		case 2:
			length, head := binary.Uvarint(b)
			if head <= 0 || length > uint64(len(b)-head) {
				return ErrFields
			}
			size = head + int(length)
			data = b[head:size]
		case 5:
			size = 4
		default:
			return ErrFields
		}
		if size > len(b) {
			return ErrFields
		}
		if key&7 == 5 {
			n = uint64(binary.LittleEndian.Uint32(b))
		}
		if err := f(int(key>>3), n, data); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
