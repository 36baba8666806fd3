package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine says in a line what this program runs on.
func machine() string {
	system := runtime.GOOS + "/" + runtime.GOARCH
	if name := processor(); name != "" {
		system += ", " + name
	}
	return fmt.Sprintf("%s, %s, %d cores", system, runtime.Version(), runtime.GOMAXPROCS(0))
}

// processor is what the system calls the processor, "" if it does not tell.
func processor() string {
	switch runtime.GOOS {
	case "linux":
		f, err := os.Open("/proc/cpuinfo")
		if err != nil {
			return ""
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), ":")
			if strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	case "darwin":
		out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output()
		if err == nil {
			return strings.TrimSpace(string(out))
		}
	case "windows":
		return os.Getenv("PROCESSOR_IDENTIFIER")
	}
	return ""
}
