//go:build !unix

package launch

import (
	"os"
	"os/exec"
)

// gentle tells a rank to end: Windows has no signal that it could handle.
var gentle = os.Kill

// ownGroup is for systems with process groups.
func ownGroup(*exec.Cmd) {}
