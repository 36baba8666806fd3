//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// gentle tells a rank to end.
var gentle os.Signal = syscall.SIGTERM

// ownGroup keeps Ctrl-C of the terminal from a rank: the command tells all ranks once.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
