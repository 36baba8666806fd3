package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine describes the machine in a line.
func machine() string {
	system := runtime.GOOS + "/" + runtime.GOARCH
	if name := processor(); name != "" {
		system += ", " + name
	}
	return fmt.Sprintf("%s, %s, %d cores", system, runtime.Version(), runtime.GOMAXPROCS(0))
}

// processor returns the system's name of the processor, "" if unknown.
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
