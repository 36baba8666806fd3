// Package goroutine tells goroutines apart.
package goroutine
