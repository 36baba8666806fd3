//go:build !unix

package cachedir

import "path/filepath"

// Trusted returns the absolute path of a file or folder. It does not check rights: on Windows
// others have none in the user's folders.
func Trusted(path string) (string, error) { return filepath.Abs(path) }
