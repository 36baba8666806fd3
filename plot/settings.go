package plot

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
)

// kinds is a set of kinds of figures.
type kinds int

const (
	heatmaps kinds = 1 << iota
	images
	curves // lines and points
	histograms
	grids

	everyKind = heatmaps | images | curves | histograms | grids
)

// kindNames are the functions that make figures of the kinds, in order.
var kindNames = []string{"Heatmap", "Image", "Lines and Scatter", "Histogram", "Grid"}

func (k kinds) String() string {
	var names []string
	for i, name := range kindNames {
		if k>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// settings has the kinds that draw a field of Figure. Others return an error where it is set.
var settings = map[string]kinds{
	"Title": everyKind, "Width": everyKind, "Height": everyKind,
	"X.Label": heatmaps | curves | histograms, "Y.Label": heatmaps | curves | histograms, "Z.Label": heatmaps,
	"X.Min": heatmaps | curves | histograms, "Y.Min": heatmaps | curves | histograms, "Z.Min": heatmaps,
	"X.Max": heatmaps | curves | histograms, "Y.Max": heatmaps | curves | histograms, "Z.Max": heatmaps,
	"X.Log": curves, "Y.Log": curves, "Z.Log": 0,
	"X.Names": heatmaps, "Y.Names": heatmaps, "Z.Names": 0,
	"Equal": heatmaps | images | curves, "OriginBelow": heatmaps, "Numbers": heatmaps,
}

// fields returns the public fields of a figure and of its axes, by name.
func (f *Figure) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) { walkFields("", reflect.ValueOf(f).Elem(), yield) }
}

func walkFields(prefix string, v reflect.Value, yield func(string, reflect.Value) bool) bool {
	for field, value := range v.Fields() {
		switch {
		case !field.IsExported():
		case value.Kind() == reflect.Struct:
			if !walkFields(field.Name+".", value, yield) {
				return false
			}
		case !yield(prefix+field.Name, value):
			return false
		}
	}
	return true
}

// checkSettings returns an error for a field that is set and not drawn.
func (f *Figure) checkSettings() error {
	kind := f.content.kind()
	for name, value := range f.fields() {
		switch drawn := settings[name]; {
		case value.IsZero() || drawn&kind != 0:
		case drawn == 0:
			return fmt.Errorf("%s is set, which no figure draws", name)
		default:
			return fmt.Errorf("%s is set, which a figure of %v does not draw, only one of %v", name, kind, drawn)
		}
	}
	return nil
}
