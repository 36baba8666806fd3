// Package files opens regular files, and replaces files atomically. Read open.go first, then
// replace.go.
package files
