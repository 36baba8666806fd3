package llm

import "errors"

// fetch fails: a page reads the files that its visitor has.
func fetch(string, Options) (string, error) {
	return "", errors.New("a name of a model cannot be fetched in a browser: open its files")
}
