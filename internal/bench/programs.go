package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/cachedir"
)

// python returns the programs of a peer in Python: one for each interpreter.
func python(file string, options ...string) func(context.Context, PeerOptions) ([]program, error) {
	return func(_ context.Context, o PeerOptions) ([]program, error) {
		interpreters := []string{o.Python}
		if o.Python == "" {
			interpreters = interpretersOn(os.Getenv("PATH"))
		}
		if len(interpreters) == 0 {
			return nil, fmt.Errorf("no python3 on PATH")
		}
		var programs []program
		args := append([]string{"-B", filepath.Join(o.Dir, "python", file)}, options...)
		if o.Device != "" {
			args = append(args, "--device", cudaName(o.Device))
		}
		for _, path := range interpreters {
			programs = append(programs, program{path: path, args: args, env: threads(o)})
		}
		return programs, nil
	}
}

// cudaName returns the name of a GPU in PyTorch: adapters of WebGPU have other numbers, so it
// is the first one for them.
func cudaName(device string) string {
	if strings.HasPrefix(device, "webgpu") {
		return "cuda"
	}
	return device
}

// interpretersOn returns the Python interpreters in the folders of a PATH, in order.
func interpretersOn(path string) (interpreters []string) {
	for _, dir := range filepath.SplitList(path) {
		for _, name := range []string{"python3", "python"} {
			p, err := exec.LookPath(filepath.Join(dir, name))
			if err == nil && !slices.Contains(interpreters, p) {
				interpreters = append(interpreters, p)
			}
		}
	}
	return interpreters
}

// goProgram returns the program of a peer in Go, which it builds with an experiment of
// the compiler, if not "". The program must then import the package that the experiment
// enables, or it would be the same without.
func goProgram(dir, experiment, enables string) func(context.Context, PeerOptions) ([]program, error) {
	return func(ctx context.Context, o PeerOptions) ([]program, error) {
		cache := cachedir.Path("peers")
		if cache == "" {
			return nil, errors.New("this system names no cache folder")
		}
		if err := cachedir.Make(cache); err != nil {
			return nil, err
		}
		tool := program{path: "go", env: []string{"GOWORK=off"}, dir: o.Dir}
		path := filepath.Join(cache, dir)
		if experiment != "" {
			tool.env = append(tool.env, "GOEXPERIMENT="+experiment)
			path += "-" + experiment
			deps, err := tool.run(ctx, "list", "-deps", "./"+dir)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(strings.Fields(string(deps)), enables) {
				return nil, fmt.Errorf("GOEXPERIMENT=%s changes nothing: %s does not import %s", experiment, dir, enables)
			}
		}
		if filepath.Separator == '\\' {
			path += ".exe"
		}
		if _, err := tool.run(ctx, "build", "-buildvcs=false", "-o", path, "./"+dir); err != nil {
			return nil, err
		}
		return []program{{path: path, env: threads(o)}}, nil
	}
}

// threads returns the variables that limit the threads of the libraries.
func threads(o PeerOptions) (env []string) {
	for _, name := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"} {
		env = append(env, name+"="+strconv.Itoa(o.Threads))
	}
	return env
}
