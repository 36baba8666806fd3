package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/files"
)

// tries is how often a file is asked for, with pauses.
const tries = 4

var pause = time.Second // 1, 2 and 4 of them

// size returns the length of the file, and not of git's pointer to it.
func (e entry) size() int64 {
	if e.LFS != nil {
		return e.LFS.Size
	}
	return e.Size
}

// sum returns a hash and the value that it should have.
func (e entry) sum() (hash.Hash, string) {
	if e.LFS != nil {
		return sha256.New(), e.LFS.OID
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", e.Size)
	return h, e.OID
}

var errSum = errors.New("the checksum is not the server's: the file was changed on its way; it is fetched anew next time")

// file fetches a file unless it is there.
func (f *fetcher) file(e entry) error {
	path := f.local(e.Path)
	if info, err := os.Stat(path); err == nil && info.Size() == e.size() && check(path, e) == nil {
		return nil
	}
	if err := cachedir.Make(filepath.Dir(path)); err != nil {
		return err
	}
	part := path + ".part"
	var err error
	for i := range tries {
		if err = f.resume(part, e); err == nil || !temporary(err) || f.ctx.Err() != nil {
			break
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-time.After(pause << i):
		}
	}
	if err == nil {
		err = check(part, e)
	}
	if errors.Is(err, errSum) {
		os.Remove(part)
	}
	if err != nil {
		return err
	}
	return files.Rename(part, path)
}

// temporary reports whether another try may help: after a failure of the network, or of the server.
func temporary(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		return status >= 500 || status == http.StatusTooManyRequests
	}
	var network *url.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errShort)
}

var errShort = errors.New("the server ended early")

// resume fetches the rest of a file.
func (f *fetcher) resume(part string, e entry) error {
	w, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer w.Close()
	info, err := w.Stat()
	if err != nil {
		return err
	}
	have, header := info.Size(), http.Header{}
	if have == e.size() {
		return nil
	}
	if have > e.size() {
		have = 0
	}
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	address := f.Server + "/" + f.repo + "/resolve/" + url.PathEscape(f.revision) + "/" + escapePath(e.Path)
	res, err := f.get(address, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusPartialContent || !strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
		have = 0 // the whole file comes
	}
	if err := w.Truncate(have); err != nil {
		return err
	}
	if err := f.copy(w, res.Body, e, have); err != nil {
		return err
	}
	return w.Close()
}

// copy copies the body, of which a file has the first bytes.
func (f *fetcher) copy(w io.Writer, body io.Reader, e entry, have int64) error {
	buffer := make([]byte, 1<<20)
	for {
		n, err := body.Read(buffer)
		if have += int64(n); have > e.size() {
			return fmt.Errorf("the server sends more than the %d bytes of its list", e.size())
		}
		if _, err := w.Write(buffer[:n]); err != nil {
			return err
		}
		if f.Progress != nil && n > 0 {
			f.Progress(e.Path, have, e.size())
		}
		switch {
		case err == io.EOF && have < e.size():
			return errShort
		case err == io.EOF:
			return nil
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", errShort, err)
		}
	}
}

// check returns errSum unless a file has the checksum of the list.
func check(path string, e entry) error {
	r, err := files.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	h, want := e.sum()
	if _, err := io.Copy(h, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return errSum
	}
	return nil
}

func escapePath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
