//go:build !unix

package cachedir

import "path/filepath"

// Trusted returns the absolute path of a file or folder. Windows gives the user's folders rights
// that others do not have, and these are not checked.
func Trusted(path string) (string, error) { return filepath.Abs(path) }
