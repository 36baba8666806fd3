package simd

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Cache returns the bytes of a core's second-level cache, 1 MiB where nothing tells them.
// Results never depend on it.
var Cache = sync.OnceValue(func() int {
	return cmp.Or(processorCache(), systemCache("/sys/devices/system/cpu/cpu0/cache"), 1<<20)
})

// systemCache returns the size in a folder of Linux' /sys, or 0.
func systemCache(dir string) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	for i := range 8 {
		index := dir + "/index" + strconv.Itoa(i)
		if level, _ := os.ReadFile(index + "/level"); strings.TrimSpace(string(level)) != "2" {
			continue
		}
		size, _ := os.ReadFile(index + "/size")
		number, kilo := strings.CutSuffix(strings.TrimSpace(string(size)), "K")
		n, err := strconv.Atoi(number)
		if err == nil && kilo {
			n <<= 10
		}
		return n
	}
	return 0
}
