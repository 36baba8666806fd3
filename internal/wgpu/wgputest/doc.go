// Package wgputest helps to test packages that use wgpu: [Check] wraps an
// implementation, logs calls and panics at those that WebGPU forbids, and [Fake]
// is an implementation in memory.
package wgputest
