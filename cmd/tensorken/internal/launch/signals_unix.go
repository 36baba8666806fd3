//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// gentle tells a rank to end.
var gentle os.Signal = syscall.SIGTERM

// forwarded are signals that ranks get and that do not end the command. Ctrl-C and SIGTERM end its context.
var forwarded = []os.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// ownGroup keeps Ctrl-C of the terminal from a rank: the command tells all ranks once.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
