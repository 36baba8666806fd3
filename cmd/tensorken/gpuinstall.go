package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// A libraryPackage is an npm package with Dawn, built for one system.
type libraryPackage struct {
	name, version string
	library       string // the file to extract
	integrity     string // sha512 of the package, in base64
}

// libraryPackages has the known packages by system. Their sha512 is printed by
// `npm view NAME@VERSION dist.integrity`.
var libraryPackages = map[string]libraryPackage{
	"linux/amd64": {
		"bun-webgpu-linux-x64", "0.1.7", "libwebgpu_wrapper.so",
		"UEP7UZdEhx9otvkZczjsszL8ZVlrODANQvgl+C88/bNVmxDoFi7w1fWzGi1sZyakiETjmtFDq2/xCLhbSZxjqw==",
	},
	"darwin/arm64": {
		"bun-webgpu-darwin-arm64", "0.1.5", "libwebgpu_wrapper.dylib",
		"qM7W5IaFpWYGPDcNiQ8DOng3noQ97gxpH2MFH1mGsdKwI0T4oy++egSh5Z7s6AQx8WKgc9GzAsTUM4KZkFdacw==",
	},
	"darwin/amd64": {
		"bun-webgpu-darwin-x64", "0.1.5", "libwebgpu_wrapper.dylib",
		"oVoIsme27pcXB68YxnQSAgdNGCa4A3PGWYIBUewOh9VnJaoik4JenGb5Yy+svGE+ETFhQXV9nhHqgMPsDRrO6A==",
	},
	"windows/amd64": {
		"bun-webgpu-win32-x64", "0.1.5", "webgpu_wrapper.dll",
		"zvnUl4EAsQbKsmZVu+lEJcH8axQ7MiCfqg2OmnHd6uw1THABmHaX0GbpKiHshdgadNN2Nf+4zDyTJB5YMcAdrA==",
	},
}

func (p libraryPackage) String() string { return p.name + "@" + p.version }

// file returns npm's name of the package's file.
func (p libraryPackage) file() string { return p.name + "-" + p.version + ".tgz" }

// elsewhere says how to install without npm or a network.
func (p libraryPackage) elsewhere() string {
	return fmt.Sprintf("run `npm pack %v` on another machine and then `tensorken gpu install --from %s` here", p, p.file())
}

// maxPackage bounds the size of a package in bytes.
const maxPackage = 100e6

func gpuInstallCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "install",
		Short: "Put a WebGPU library where Tensorken finds it",
		Long: `Put Dawn, the WebGPU library that Tensorken is tested with, into your cache
folder. The npm client fetches the package, of about 6 MB; or fetch it on another
machine and name the file:

	npm pack ` + anyPackage().String() + `
	tensorken gpu install --from ` + anyPackage().file() + `

The package's sha512 must equal the one in this program. Only the library and its
licence are extracted, and no script of the package runs.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			i := installer{libraryPackages, runtime.GOOS + "/" + runtime.GOARCH, cachedir.Path(wgpu.Cache)}
			library, err := i.install(c.Context(), from)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "installed %s\n", library)
			if named := os.Getenv(wgpu.Variable); named != "" {
				fmt.Fprintf(c.OutOrStdout(), "note: %s is set, so %s is used instead\n", wgpu.Variable, named)
			}
			fmt.Fprintln(c.OutOrStdout(), "`tensorken gpu` lists adapters, `tensorken gpu check` tests one")
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "the package's file, a .tgz (default fetch it)")
	return c
}

// anyPackage returns the package for this system, or for help texts another one.
func anyPackage() libraryPackage {
	if p, ok := libraryPackages[runtime.GOOS+"/"+runtime.GOARCH]; ok {
		return p
	}
	return libraryPackages["linux/amd64"]
}

// An installer puts the library for a system into a folder.
type installer struct {
	packages map[string]libraryPackage
	system   string // such as linux/amd64
	dir      string
}

// install extracts the library from a package's file or, if from is "", fetches the
// package first. It returns the path of the library.
func (i installer) install(ctx context.Context, from string) (library string, err error) {
	p, ok := i.packages[i.system]
	if !ok {
		return "", fmt.Errorf("this version has no GPU on %s, for want of a prebuilt WebGPU library: use the device cpu", i.system)
	}
	if i.dir == "" {
		return "", fmt.Errorf("this system names no cache folder: set %s to the path of %s, which is in the npm package %v", wgpu.Variable, p.library, p)
	}
	if from == "" {
		if err := cachedir.Make(i.dir); err != nil {
			return "", err
		}
		folder, err := os.MkdirTemp(i.dir, "npm-*")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder)
		if from, err = fetch(ctx, p, folder); err != nil {
			return "", err
		}
	}
	data, err := readPackage(from)
	if err != nil {
		return "", err
	}
	if err := i.verify(p, data); err != nil {
		return "", fmt.Errorf("%s: %w", from, err)
	}
	unpacked, err := unpack(data, p.library, "LICENSE")
	if err != nil {
		return "", fmt.Errorf("%s: %w", from, err)
	}
	if err := cachedir.Make(i.dir); err != nil {
		return "", err
	}
	for _, name := range []string{"LICENSE", p.library} {
		if err := replace(filepath.Join(i.dir, name), unpacked[name]); err != nil {
			return "", err
		}
	}
	return filepath.Join(i.dir, p.library), nil
}

// fetch runs the npm client to download the package's file to a folder. npm reads .npmrc of the
// project in its folder or, without a package.json there, of one in a folder above, and the .npmrc
// of a workspace above. A stranger's .npmrc could send any environment variable to any server, so
// the folder has a package.json, and there is no workspace.
func fetch(ctx context.Context, p libraryPackage, folder string) (path string, err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm, which comes with Node.js, is not on the PATH: install it, or %s", p.elsewhere())
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte("{}"), 0o600); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, npm, "pack", "--workspaces=false", "--loglevel=error", p.String())
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm pack %v: %w%s: mend that, or %s", p, err, reason(string(out)), p.elsewhere())
	}
	return filepath.Join(folder, p.file()), nil
}

// reason returns npm's reason for a failure, in brackets on one line. It is in the first
// lines of the output; a trace and general advice may follow.
func reason(out string) string {
	out = strings.TrimSpace(npmMark.ReplaceAllString(out, ""))
	if out == "" {
		return ""
	}
	lines := strings.Split(out, "\n")
	return " (" + strings.Join(lines[:min(4, len(lines))], ", ") + ")"
}

// npmMark matches the start of npm's error lines.
var npmMark = regexp.MustCompile(`(?m)^npm (error|ERR!) *`)

// readPackage reads a file that may be a package.
func readPackage(path string) ([]byte, error) {
	data, err := files.ReadAll(path, maxPackage)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, files.Reason(err))
	}
	return data, nil
}

// verify returns an error unless data has the hash of the package p.
func (i installer) verify(p libraryPackage, data []byte) error {
	hash := sha512.Sum512(data)
	sum := base64.StdEncoding.EncodeToString(hash[:])
	if sum == p.integrity {
		return nil
	}
	for system, other := range i.packages {
		if sum == other.integrity {
			return fmt.Errorf("this is %v, for %s: %s needs %v", other, system, i.system, p)
		}
	}
	return fmt.Errorf("this is not %v: its sha512 is %s, want %s", p, sum, p.integrity)
}

// unpack returns the named files of an npm package.
func unpack(data []byte, names ...string) (found map[string][]byte, err error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	found = map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if h.Typeflag == tar.TypeReg && h.Name == path.Join("package", name) {
				if found[name], err = io.ReadAll(archive); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range names {
		if found[name] == nil {
			return nil, fmt.Errorf("there is no %s in it", name)
		}
	}
	return found, nil
}

// replace writes a file atomically: path is the old or the new one at any time.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tensorken-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := files.Rename(f.Name(), path); err != nil { // on Windows if the library is in use
		return fmt.Errorf("%s: %w", path, files.Reason(err))
	}
	return nil
}
