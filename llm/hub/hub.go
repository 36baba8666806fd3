// Package hub fetches models from a server with Hugging Face's API into a folder. Interrupted files
// are resumed, all are compared with the server's checksums, and a complete folder is used without
// the network. Read this file first, then file.go.
package hub

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/files"
)

// Options change what Fetch does. A nil pointer is all zeros.
type Options struct {
	Server string // the address; empty: https://huggingface.co
	Cache  string // the folder of models; empty: tensorken/models in the user's cache folder
	Client *http.Client
	// Progress, if it is not nil, is told how many bytes of a file have come.
	Progress func(file string, done, size int64)
}

// An entry is a file of a model, as the server lists it.
type entry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	OID  string `json:"oid"` // git's sha1 of small files
	LFS  *struct {
		OID  string `json:"oid"` // sha256
		Size int64  `json:"size"`
	} `json:"lfs"`
}

var (
	modelName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w.-]+)?$`)
	// wanted are the files that a model is read from.
	wanted = regexp.MustCompile(`^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|chat_template|modules|sentence_bert_config|config_sentence_transformers)\.json$|` +
		`^(merges|vocab)\.txt$|^(tokenizer|spiece|sentencepiece\.bpe)\.model$|^chat_template\.jinja$|^model(-\d+-of-\d+)?\.safetensors$|^model\.safetensors\.index\.json$|^\d+_\w+/config\.json$`)
)

// complete is the file that a folder has when all others are there and right.
const complete = ".complete"

// Fetch returns a folder with the files of a model, owner/name or owner/name@revision, and fetches
// those that are missing.
func Fetch(ctx context.Context, name string, o *Options) (dir string, err error) {
	f := fetcher{ctx: ctx}
	if o != nil {
		f.Options = *o
	}
	if !modelName.MatchString(name) || strings.Contains(name, "..") {
		return "", fmt.Errorf("%q is no name of a model: want owner/name, or owner/name@revision", name)
	}
	f.Server = strings.TrimSuffix(cmp.Or(f.Server, "https://huggingface.co"), "/")
	if f.Cache = cmp.Or(f.Cache, cachedir.Path("models")); f.Cache == "" {
		return "", errors.New("the system names no cache folder: name a folder for models")
	}
	repo, revision, _ := strings.Cut(name, "@")
	f.repo, f.revision = repo, cmp.Or(revision, "main")
	f.dir = filepath.Join(f.Cache, strings.ReplaceAll(repo, "/", "--")+"@"+f.revision)
	if _, err := os.Stat(filepath.Join(f.dir, complete)); err == nil {
		return f.dir, nil
	}
	if err := f.all(); err != nil {
		return "", fmt.Errorf("model %q of %s: %w", name, f.Server, err)
	}
	return f.dir, nil
}

// A fetcher fetches one model.
type fetcher struct {
	Options
	ctx            context.Context
	repo, revision string
	dir            string
}

func (f *fetcher) all() error {
	list, err := f.list()
	if err != nil {
		return err
	}
	if err := cachedir.Make(f.dir); err != nil {
		return err
	}
	found := false
	for _, e := range list {
		if e.Type != "file" || !wanted.MatchString(e.Path) {
			continue
		}
		found = found || e.Path == "config.json"
		if err := f.file(e); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	if !found {
		return errors.New("it has no config.json: it is no model that can be read")
	}
	return files.Replace(filepath.Join(f.dir, complete), func(*bufio.Writer) error { return nil })
}

// maxList is the most bytes of a list of files.
const maxList = 16 << 20

func (f *fetcher) list() (list []entry, err error) {
	res, err := f.get(f.Server+"/api/models/"+f.repo+"/tree/"+url.PathEscape(f.revision)+"?recursive=true", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := files.ReadFrom(res.Body, 0, maxList)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("its list of files: %w", err)
	}
	return list, nil
}

// get asks for an address. Other answers than a file or a part of one are errors.
func (f *fetcher) get(address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(f.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := cmp.Or(f.Client, http.DefaultClient).Do(req)
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
		return res, nil
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		err = fmt.Errorf("the server answers %d: there is no such model, or it asks for a login; fetch it by its owner's tools, and name the folder", res.StatusCode)
	default:
		err = statusError(res.StatusCode)
	}
	res.Body.Close()
	return nil, err
}

// A statusError is an answer of a server after which another try may help.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the server answers %d %s", int(e), http.StatusText(int(e)))
}

// local returns the path of a file of the model.
func (f *fetcher) local(name string) string {
	return filepath.Join(f.dir, filepath.FromSlash(path.Clean("/" + name))[1:])
}
