package dist

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/tensorken/tensorken/internal/files"
)

// The start of a connection: the side that listens sends the protocol's name and a nonce; the other side
// a nonce, its greeting and a proof that it knows the job's secret; the first a proof of its own. So a
// stray connection, and a rank of another job, are refused. Messages are not encrypted.
const (
	protocol      = "tensorken dist 2"
	nonceSize     = 32
	handshakeTime = 5 * time.Second
	// maxMessage bounds the memory for a message from the network; the list of addresses may have more
	// for each rank.
	maxMessage = 1 << 12
)

// A greeting says who connects.
type greeting struct {
	Size int
	Peer peer
	Ring bool // to the next rank; else to rank 0
}

// errRefused is the error of a side that the other does not accept.
var errRefused = errors.New("the connection was refused: there is another program, another version, or a rank of another job")

func proof(secret, side string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(side))
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// greet connects as a rank.
func greet(c net.Conn, secret string, who greeting, deadline time.Time) error {
	c.SetDeadline(deadline)
	var hello [len(protocol) + nonceSize]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil || string(hello[:len(protocol)]) != protocol {
		return errRefused
	}
	theirs, ours := hello[len(protocol):], make([]byte, nonceSize)
	rand.Read(ours)
	text, err := json.Marshal(who)
	if err != nil {
		return err
	}
	if _, err := c.Write(slices.Concat(ours, proof(secret, "rank", theirs, ours, text))); err != nil {
		return err
	}
	if err := writeMessage(c, text); err != nil {
		return err
	}
	answer := make([]byte, sha256.Size)
	if _, err := io.ReadFull(c, answer); err != nil || !hmac.Equal(answer, proof(secret, "listener", ours, theirs)) {
		return errRefused
	}
	return c.SetDeadline(time.Time{})
}

// receive accepts a rank.
func receive(c net.Conn, secret string) (who greeting, err error) {
	c.SetDeadline(time.Now().Add(handshakeTime))
	ours, theirs, given := make([]byte, nonceSize), make([]byte, nonceSize), make([]byte, sha256.Size)
	rand.Read(ours)
	if _, err := c.Write(append([]byte(protocol), ours...)); err != nil {
		return who, err
	}
	for _, b := range [][]byte{theirs, given} {
		if _, err := io.ReadFull(c, b); err != nil {
			return who, err
		}
	}
	text, err := readMessage(c, maxMessage)
	if err != nil {
		return who, err
	}
	if !hmac.Equal(given, proof(secret, "rank", ours, theirs, text)) {
		return who, errRefused
	}
	if err := files.JSON(text, &who); err != nil {
		return who, err
	}
	if _, err := c.Write(proof(secret, "listener", theirs, ours)); err != nil {
		return who, err
	}
	return who, c.SetDeadline(time.Time{})
}

// writeMessage writes a length and bytes, in one piece.
func writeMessage(w io.Writer, b []byte) error {
	_, err := w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// readMessage reads a message of writeMessage.
func readMessage(r io.Reader, most int) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if int64(n) > int64(most) {
		return nil, fmt.Errorf("a message of %d bytes, want at most %d", n, most)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// A message goes between rank 0 and another one. A message without content is a sign of life.
type message struct {
	Count   int64    `json:",omitempty"` // the collectives that the sender has begun
	Failure *Failure `json:",omitempty"`
	Left    *int     `json:",omitempty"` // a rank has closed its group after Count collectives
	Peers   []peer   `json:",omitempty"` // all ranks have come
	Offer   *offer   `json:",omitempty"` // of the sender's device
	Choice  *choice  `json:",omitempty"` // of rank 0, for all
	Ready   bool     `json:",omitempty"` // the sender's ring is connected; of rank 0: all rings are
}

// maxCause bounds the text of a failure.
const maxCause = 1 << 10

func send(c net.Conn, m message, within time.Duration) error {
	if f := m.Failure; f != nil && len(f.Cause) > maxCause {
		short := *f
		short.Cause = string([]rune(f.Cause)[:maxCause/4]) + " …"
		m.Failure = &short
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(within))
	return writeMessage(c, b)
}

// next reads a message, within a time.
func next(c net.Conn, ranks int, within time.Duration) (m message, err error) {
	c.SetReadDeadline(time.Now().Add(within))
	b, err := readMessage(c, maxMessage+ranks*maxPeer)
	if err != nil {
		return m, err
	}
	return m, files.JSON(b, &m)
}

// maxPeer bounds the bytes of a rank in the list of all.
const maxPeer = 512
