package pytree

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"

	"github.com/tensorken/tensorken/internal/sorts"
)

// An entry is a key of a map and its value.
type entry struct{ key, value reflect.Value }

// entries returns the entries of a map, in the order of keys.
func entries(m reflect.Value) []entry {
	es := make([]entry, 0, m.Len())
	for it := m.MapRange(); it.Next(); {
		es = append(es, entry{it.Key(), it.Value()})
	}
	sorts.Stable(es, func(a, b entry) int {
		switch {
		case a.key.CanInt():
			return cmp.Compare(a.key.Int(), b.key.Int())
		case a.key.CanUint():
			return cmp.Compare(a.key.Uint(), b.key.Uint())
		}
		return cmp.Compare(keyName(a.key), keyName(b.key))
	})
	return es
}

// keyName is the part of a name for a map's key.
func keyName(k reflect.Value) string {
	switch {
	case k.Kind() == reflect.String:
		return k.String()
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	return fmt.Sprint(k)
}

// parseKey returns the key of type t whose name is s, if there is one.
func parseKey(s string, t reflect.Type) (reflect.Value, bool) {
	k := reflect.New(t).Elem()
	switch { // a number that cannot be parsed has another name than s
	case k.Kind() == reflect.String:
		k.SetString(s)
	case k.CanInt():
		n, _ := strconv.ParseInt(s, 10, t.Bits())
		k.SetInt(n)
	case k.CanUint():
		n, _ := strconv.ParseUint(s, 10, t.Bits())
		k.SetUint(n)
	}
	return k, validKey(t) && keyName(k) == s
}

// validKey reports whether keys of type t are part of names.
func validKey(t reflect.Type) bool {
	k := reflect.Zero(t)
	return k.Kind() == reflect.String || k.CanInt() || k.CanUint()
}
