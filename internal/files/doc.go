// Package files opens regular files, and replaces files atomically.
package files
