// Package hub fetches models from a server with Hugging Face's API into a folder. Interrupted files
// are resumed, all are compared with the server's checksums, and a complete folder is used without
// the network. Read this file first, then file.go.
package hub

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/files"
)

// Options change how Fetch works. A nil pointer is all zeros.
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
	modelName = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:/([A-Za-z0-9][\w.-]*\.gguf))?(?:@([\w.-]+))?$`)
	// wanted are the files that a model is read from.
	wanted = regexp.MustCompile(`^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|chat_template|modules|sentence_bert_config|config_sentence_transformers)\.json$|` +
		`^(merges|vocab)\.txt$|^(tokenizer|spiece|sentencepiece\.bpe)\.model$|^chat_template\.jinja$|^additional_chat_templates/\w[\w.-]*\.jinja$|^model(-\d+-of-\d+)?\.safetensors$|^model\.safetensors\.index\.json$|^\d+_\w+/config\.json$`)
)

// complete ends the name of the file that a folder has when all others are there and right.
const complete = ".complete"

// Fetch returns the path of a model, and fetches the files that are missing: of owner/name the folder,
// and of owner/name/file.gguf that file. @revision may follow.
func Fetch(ctx context.Context, name string, o *Options) (path string, err error) {
	f := fetcher{ctx: ctx}
	if o != nil {
		f.Options = *o
	}
	parts := modelName.FindStringSubmatch(name)
	if parts == nil || strings.Contains(name, "..") {
		return "", fmt.Errorf("%q is no name of a model: want owner/name or owner/name/file.gguf, and perhaps @revision", name)
	}
	f.repo, f.one, f.revision = parts[1], parts[2], cmp.Or(parts[3], "main")
	f.Server = strings.TrimSuffix(cmp.Or(f.Server, "https://huggingface.co"), "/")
	if f.Cache = cmp.Or(f.Cache, cachedir.Path("models")); f.Cache == "" {
		return "", errors.New("the system names no cache folder: name a folder for models")
	}
	f.dir = filepath.Join(f.Cache, strings.ReplaceAll(f.repo, "/", "--")+"@"+f.revision)
	path, mark := filepath.Join(f.dir, f.one), filepath.Join(f.dir, f.one+complete)
	if _, err := os.Stat(mark); err == nil {
		return path, nil
	}
	err = f.all()
	if err == nil {
		err = files.Replace(mark, func(*bufio.Writer) error { return nil })
	}
	if err != nil {
		return "", fmt.Errorf("model %q of %s: %w", name, f.Server, err)
	}
	return path, nil
}

// A Local is a model, or one of its files, that was fetched.
type Local struct {
	Name string // as Fetch takes it
	Path string
	Size int64
}

// List returns the complete models in a cache; empty: the folder in the user's cache.
func List(cache string) (list []Local, err error) {
	marks, err := filepath.Glob(filepath.Join(cmp.Or(cache, cachedir.Path("models")), "*--*@*", "*"+complete))
	for _, mark := range marks {
		dir, one := filepath.Dir(mark), strings.TrimSuffix(filepath.Base(mark), complete)
		repo, revision, _ := strings.Cut(strings.Replace(filepath.Base(dir), "--", "/", 1), "@")
		m := Local{Name: strings.TrimSuffix(path.Join(repo, one)+"@"+revision, "@main"), Path: filepath.Join(dir, one)}
		f := fetcher{one: one}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			name, _ := filepath.Rel(dir, path)
			if err != nil || d.IsDir() || !f.wants(filepath.ToSlash(name)) {
				return err
			}
			info, err := d.Info()
			if err == nil {
				m.Size += info.Size()
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, err
}

// A fetcher fetches one model.
type fetcher struct {
	Options
	ctx            context.Context
	repo, revision string
	one            string // the file that is wanted; empty: all of wanted
	dir            string
}

// wants reports whether a file of the list is wanted, as part of a file in parts, too.
func (f *fetcher) wants(name string) bool {
	if f.one == "" {
		return wanted.MatchString(name)
	}
	return part.ReplaceAllString(name, "-of-") == part.ReplaceAllString(f.one, "-of-")
}

// part is the number in the name of a part of a file.
var part = regexp.MustCompile(`-\d{5}-of-`)

func (f *fetcher) all() error {
	list, err := f.list()
	if err != nil {
		return err
	}
	if err := cachedir.Make(f.dir); err != nil {
		return err
	}
	found, others := false, []string{}
	for _, e := range list {
		if strings.HasSuffix(e.Path, ".gguf") {
			others = append(others, strconv.Quote(e.Path))
		}
		if e.Type != "file" || !f.wants(e.Path) {
			continue
		}
		found = found || e.Path == cmp.Or(f.one, "config.json")
		if err := f.file(e); err != nil {
			return fmt.Errorf("%s: %w", files.Name(e.Path), err)
		}
	}
	if !found && len(others) > 0 {
		return fmt.Errorf("name one of its files, as owner/name/file.gguf: %s", strings.Join(others, ", "))
	}
	if !found {
		return fmt.Errorf("it has no %s: it is no model that can be read", cmp.Or(f.one, "config.json"))
	}
	return nil
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
	const perEntry = 512 // of a list that grows
	if err := files.CheckJSON(data, perEntry); err != nil {
		return nil, err
	}
	if err := files.JSON(data, &list); err != nil {
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
	client := *cmp.Or(f.Client, http.DefaultClient)
	if client.CheckRedirect == nil {
		client.CheckRedirect = secure
	}
	res, err := client.Do(req)
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

// maxRedirects is how often a server may send on to another address.
const maxRedirects = 10

// secure refuses redirects that leave HTTPS: the list of files has the checksums of all others.
func secure(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("the server redirects more than %d times", maxRedirects)
	case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("the server redirects to %q, which is not HTTPS", req.URL.Redacted())
	}
	return nil
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
