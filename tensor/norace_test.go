//go:build !race

package tensor_test

const raceDetector = false
