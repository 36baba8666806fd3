//go:build !js

package wgpu

import "slices"

// An abi is a version of webgpu.h. Libraries do not report their version, and layouts of
// structures and values of constants changed from month to month before they became
// stable. detect recognizes an abi by functions that a library exports and by older or
// newer ones that it lacks.
type abi struct {
	name       string
	has, lacks []string
	// why is the reason if libraries with this abi cannot be used.
	why string
}

// abis lists the known abis; the first match counts.
var abis = []abi{
	{
		name: "Dawn of 2025, as in npm's bun-webgpu 0.1",
		has: []string{
			"zwgpuCreateInstance", // of bun-webgpu alone
			"wgpuGetInstanceCapabilities",
			"wgpuComputePassEncoderSetImmediateData",
			"wgpuAdapterPropertiesSubgroupMatrixConfigsFreeMembers",
		},
		lacks: []string{"wgpuComputePassEncoderSetImmediates", "wgpuGetInstanceFeatures"},
	},
	{
		has: []string{"wgpuCreateInstance", "wgpuGetVersion", "wgpuDevicePoll"},
		why: "it is wgpu-native, and this version knows no release of it",
	},
	{
		has: []string{"wgpuCreateInstance", "wgpuDeviceTick"},
		why: "it is Dawn, but not the build that this version knows",
	},
	{
		has: []string{"wgpuCreateInstance"},
		why: "it has webgpu.h's functions, but is no build that this version knows",
	},
	{why: "it lacks webgpu.h's functions"},
}

// detect returns the abi of a library.
func detect(has func(symbol string) bool) (*abi, error) {
	lacks := func(symbol string) bool { return !has(symbol) }
	for i := range abis {
		a := &abis[i]
		if slices.ContainsFunc(a.has, lacks) || slices.ContainsFunc(a.lacks, has) {
			continue
		}
		if a.why != "" {
			return nil, &unusable{a.why + "; use the library of npm's bun-webgpu 0.1"}
		}
		return a, nil
	}
	return nil, &unusable{"it is not known"} // the last of abis matches all
}
