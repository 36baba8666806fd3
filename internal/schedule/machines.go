package schedule

import (
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// machines has the figures of GPUs whose interface tells no more than a name, by a part of the
// name: compute units, additions of float32 and bytes of memory per second. Sources: the makers'
// data sheets; where Apple gives no rate, it is computed from 128 lanes a core at 1.3 GHz.
var machines = []struct {
	name            string
	units           int
	adds, bandwidth float64
}{
	{"nvidia h200", 132, 33.5e12, 4.8e12},
	{"nvidia h100", 132, 33.5e12, 3.35e12},
	{"nvidia a100", 108, 9.7e12, 1.55e12},
	{"rtx 4090", 128, 41.3e12, 1.01e12},
	{"rtx 3090", 82, 17.8e12, 0.936e12},
	{"rx 7900 xtx", 96, 15.4e12, 0.96e12},
	{"arc(tm) a770", 32, 8.6e12, 0.56e12},
	{"arc(tm) a750", 28, 7.3e12, 0.512e12},
	{"arc(tm) b580", 20, 6.8e12, 0.456e12},
	{"apple m1 ultra", 64, 10.5e12, 0.8e12},
	{"apple m1 max", 32, 5.2e12, 0.4e12},
	{"apple m1 pro", 16, 2.6e12, 0.2e12},
	{"apple m1", 8, 1.3e12, 0.068e12},
	{"apple m2 ultra", 76, 13.6e12, 0.8e12},
	{"apple m2 max", 38, 6.8e12, 0.4e12},
	{"apple m2 pro", 19, 3.4e12, 0.2e12},
	{"apple m2", 10, 1.8e12, 0.1e12},
	{"apple m3 max", 40, 6.7e12, 0.4e12},
	{"apple m3 pro", 18, 3e12, 0.15e12},
	{"apple m3", 10, 1.7e12, 0.1e12},
	{"apple m4 max", 40, 6.7e12, 0.546e12},
	{"apple m4 pro", 20, 3.3e12, 0.273e12},
	{"apple m4", 10, 1.7e12, 0.12e12},
}

// MachineOf returns the compute units and the figures of a GPU by its name, 0 if they are not known.
func MachineOf(name string) (units int, m ir.Machine) {
	name = strings.ToLower(name)
	for _, r := range machines {
		if strings.Contains(name, r.name) {
			return r.units, ir.Machine{Adds: r.adds, Bandwidth: r.bandwidth, Launch: 3.5e-6}
		}
	}
	return 0, m
}
