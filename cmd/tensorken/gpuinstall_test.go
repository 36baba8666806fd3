package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// pack returns a package's file with the given names and contents, and its sha512.
func pack(t *testing.T, files ...string) (data []byte, integrity string) {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		name, text := files[i], files[i+1]
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sum(b.Bytes())
}

func sum(data []byte) string {
	hash := sha512.Sum512(data)
	return base64.StdEncoding.EncodeToString(hash[:])
}

func TestInstall(t *testing.T) {
	good, goodSum := pack(t, "package/package.json", "{}", "package/LICENSE", "free", "package/libdawn.so", "code", "package/../../evil", "x")
	other, otherSum := pack(t, "package/LICENSE", "free", "package/dawn.dll", "more code")
	short, shortSum := pack(t, "package/LICENSE", "free", "package/sub/libdawn.so", "code")
	text := []byte("<html>not found</html>")
	cut := good[:len(good)/2]
	packages := map[string]libraryPackage{
		"good/1":  {"dawn-good", "1.0.0", "libdawn.so", goodSum},
		"other/1": {"dawn-other", "1.0.0", "dawn.dll", otherSum},
		"short/1": {"dawn-short", "1.0.0", "libdawn.so", shortSum},
		"text/1":  {"dawn-text", "1.0.0", "libdawn.so", sum(text)},
		"cut/1":   {"dawn-cut", "1.0.0", "libdawn.so", sum(cut)},
	}
	for _, c := range []struct {
		system string
		data   []byte
		want   string // error, if it must fail
	}{
		{"good/1", good, ""},
		{"other/1", other, ""},
		{"good/1", other, "dawn.tgz: this is dawn-other@1.0.0, for other/1: good/1 needs dawn-good@1.0.0"},
		{"good/1", append(good[:len(good):len(good)], 0), "dawn.tgz: this is not dawn-good@1.0.0: its sha512 is "},
		{"good/1", nil, "dawn.tgz: this is not dawn-good@1.0.0: its sha512 is "},
		{"short/1", short, "dawn.tgz: there is no libdawn.so in it"},
		{"text/1", text, "dawn.tgz: gzip: "},
		{"cut/1", cut, "dawn.tgz: unexpected EOF"},
		{"plan9/mips", good, "this version has no GPU on plan9/mips, for want of a prebuilt WebGPU library"},
	} {
		from := write(t, "dawn.tgz", string(c.data))
		dir := filepath.Join(t.TempDir(), "tensorken", "webgpu")
		library, err := installer{packages, c.system, dir}.install(t.Context(), from)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("install on %s: error %v, want …%s…", c.system, err, c.want)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("install on %s failed and left %s", c.system, dir)
			}
			continue
		}
		if err != nil {
			t.Errorf("install on %s: %v", c.system, err)
			continue
		}
		if want := filepath.Join(dir, packages[c.system].library); library != want {
			t.Errorf("install on %s = %s, want %s", c.system, library, want)
		}
		var names []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		want := []string{"LICENSE", packages[c.system].library}
		if want[0] > want[1] {
			want[0], want[1] = want[1], want[0]
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("install on %s left (-want +got):\n%s", c.system, diff)
		}
	}
}

// wgpu.Prebuilt names the systems of libraryPackages.
func TestPackages(t *testing.T) {
	for system := range wgpu.Prebuilt {
		if _, ok := libraryPackages[system]; !ok {
			t.Errorf("wgpu.Prebuilt has %s, for which there is no package", system)
		}
	}
	for system := range libraryPackages {
		if !wgpu.Prebuilt[system] {
			t.Errorf("there is a package for %s, which wgpu.Prebuilt lacks", system)
		}
	}
}

// TestInstallAgain replaces a library; on failure the old one stays.
func TestInstallAgain(t *testing.T) {
	data, integrity := pack(t, "package/LICENSE", "free", "package/libdawn.so", "new")
	i := installer{map[string]libraryPackage{"good/1": {"dawn-good", "1.0.0", "libdawn.so", integrity}}, "good/1", t.TempDir()}
	library := filepath.Join(i.dir, "libdawn.so")
	if err := os.WriteFile(library, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, want string }{{"broken", "old"}, {string(data), "new"}} {
		_, err := i.install(t.Context(), write(t, "dawn.tgz", c.data))
		if got, _ := os.ReadFile(library); string(got) != c.want {
			t.Errorf("after install (%v) the library holds %q, want %q", err, got, c.want)
		}
	}
	i.dir = filepath.Join(library, "in", "a", "file")
	if _, err := i.install(t.Context(), write(t, "dawn.tgz", string(data))); err == nil {
		t.Errorf("install into %s: no error", i.dir)
	}
}

// npmFile is the variable with which this program is the npm of fakeNPM.
const npmFile = "TENSORKEN_TEST_NPM"

func TestMain(m *testing.M) {
	if file, ok := os.LookupEnv(npmFile); ok {
		os.Exit(npm(file))
	}
	os.Exit(m.Run())
}

// npm gives the file for a package, or fails if it has none.
func npm(file string) (status int) {
	data, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprint(os.Stderr, "npm error code X\nnpm ERR! errno X\nnpm error syscall x\nnpm error network no network\nnpm error at more\n")
		return 7
	}
	_, err = os.Stat("package.json")
	args := strings.Join(os.Args[1:], " ")
	if args != "pack --workspaces=false --loglevel=error dawn-good@1.0.0" || err != nil || os.WriteFile("dawn-good-1.0.0.tgz", data, 0o600) != nil {
		fmt.Fprintf(os.Stderr, "npm %s, package.json: %v", args, err)
		return 1
	}
	return 0
}

// fakeNPM sets PATH to a folder with nothing but an npm, which has a file, or none if its path is
// "". On Windows npm is a script.
func fakeNPM(t *testing.T, file string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		err = os.WriteFile(filepath.Join(dir, "npm.cmd"), []byte(`@"`+program+`" %*`), 0o755)
	} else {
		err = os.Symlink(program, filepath.Join(dir, "npm"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv(npmFile, file)
}

func TestInstallFetches(t *testing.T) {
	data, integrity := pack(t, "package/LICENSE", "free", "package/libdawn.so", "code")
	file := write(t, "dawn.tgz", string(data))
	i := installer{map[string]libraryPackage{"good/1": {"dawn-good", "1.0.0", "libdawn.so", integrity}}, "good/1", t.TempDir()}

	t.Setenv("PATH", t.TempDir())
	_, err := i.install(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "`tensorken gpu install --from dawn-good-1.0.0.tgz`") {
		t.Errorf("install without npm: error %v", err)
	}
	fakeNPM(t, "")
	_, err = i.install(t.Context(), "")
	if want := "npm pack dawn-good@1.0.0: exit status 7 (code X, errno X, syscall x, network no network): mend that, or run `npm pack dawn-good@1.0.0` on another machine and then `tensorken gpu install --from dawn-good-1.0.0.tgz` here"; err == nil || err.Error() != want {
		t.Errorf("install where npm fails: error %v, want %s", err, want)
	}
	fakeNPM(t, file)
	library, err := i.install(t.Context(), "")
	if err != nil {
		t.Fatalf("install: %v", err)
	}
	if got, _ := os.ReadFile(library); string(got) != "code" {
		t.Errorf("the library holds %q, want %q", got, "code")
	}
}

// npm takes no settings from folders above its own, which others may write, as they may /tmp.
func TestInstallIsolated(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil || testing.Short() {
		t.Skip("there is no npm, or it takes long")
	}
	registry := func(asked *[]string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*asked = append(*asked, r.URL.Path)
			http.NotFound(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	var users, foreign []string
	home, above := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, ".npmrc"):        "fetch-retries=0\nregistry=" + registry(&users).URL,
		filepath.Join(above, ".npmrc"):       "registry=" + registry(&foreign).URL + "/${SECRET}/",
		filepath.Join(above, "package.json"): `{"workspaces": ["*", "*/*", "*/*/*"]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "TMPDIR": above, "SECRET": "s3cret"} {
		t.Setenv(name, value)
	}
	i := installer{map[string]libraryPackage{"good/1": {"dawn-good", "1.0.0", "libdawn.so", ""}}, "good/1", filepath.Join(above, "tensorken", "webgpu")}
	_, err := i.install(t.Context(), "")
	if err == nil || len(foreign) > 0 || len(users) == 0 {
		t.Errorf("install asks the user's registry for %q, and the one that a folder above names for %q (%v)", users, foreign, err)
	}
	if left, err := os.ReadDir(i.dir); err != nil || len(left) > 0 {
		t.Errorf("install leaves %v, %v", left, err)
	}
}

func TestInstallCommand(t *testing.T) {
	if _, ok := libraryPackages[runtime.GOOS+"/"+runtime.GOARCH]; !ok {
		t.Skip("no library is known for this system")
	}
	setCache := func(dir string) {
		for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
			t.Setenv(name, dir)
		}
	}
	setCache(t.TempDir())
	long := filepath.Join(t.TempDir(), "long.tgz")
	if err := errors.Join(os.WriteFile(long, nil, 0o644), os.Truncate(long, 1<<27)); err != nil {
		t.Fatal(err)
	}
	fakeNPM(t, "") // which must not be asked
	for _, c := range []struct{ from, want string }{
		{"", "--from names nothing"},
		{"nowhere.tgz", "nowhere.tgz"},
		{os.TempDir(), "not a regular file"},
		{os.DevNull, "not a regular file"},
		{long, "long.tgz: it has more than 95.4 MiB"},
		{write(t, "text.tgz", "text"), "text.tgz: this is not bun-webgpu-"},
	} {
		status, _, stderr := command("gpu", "install", "--from", c.from)
		if status != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("gpu install --from %s: status %d, standard error %q, want …%s…", c.from, status, stderr, c.want)
		}
	}
	setCache("")
	const want = "this system names no cache folder: set TENSORKEN_WEBGPU_LIB to the path of "
	if status, _, stderr := command("gpu", "install"); status != 1 || !strings.Contains(stderr, want) {
		t.Errorf("gpu install without a cache folder: status %d, standard error %q, want …%s…", status, stderr, want)
	}
}

func TestLibraryPackages(t *testing.T) {
	for system, p := range libraryPackages {
		hash, err := base64.StdEncoding.DecodeString(p.integrity)
		if err != nil || len(hash) != sha512.Size {
			t.Errorf("%s: sha512 %q is not one: %v", system, p.integrity, err)
		}
	}
}
