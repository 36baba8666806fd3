package table_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/tensor"
)

const rooms = `city;area;sold
Berlin;61,5;2024-03-01
Bonn;80;2024-04-15
Berlin;;2023-12-24
`

// readRooms reads a text with semicolons and decimal commas.
func readRooms() *table.Frame {
	f, err := table.Read(strings.NewReader(rooms), &table.Options{Decimal: ','})
	if err != nil {
		panic(err)
	}
	return f
}

// Columns have the kinds that all their fields have.
func ExampleFrame() {
	var f *table.Frame = readRooms()
	for _, c := range f.Columns() {
		fmt.Println(c.Name, c.Kind, c.Missing)
	}
	x, err := f.Tensor(tensor.Float32, "area")
	fmt.Println(x.T(), err)
	// Output:
	// city text 0
	// area float 1
	// sold date 0
	// [[61.5 80.0 NaN]] <nil>
}

// An Info describes a column: here where its first field is missing.
func ExampleInfo() {
	var area table.Info = readRooms().Columns()[1]
	fmt.Println(area.Name, area.MissingLine, area.Kind == table.Float)
	// Output: area 4 true
}

func ExampleKind() {
	for _, k := range []table.Kind{table.Text, table.Int, table.Float, table.Date} {
		fmt.Print(k, " ")
	}
	// Output: text int float date
}

// A first line of numbers is data, unless the options say otherwise.
func ExampleHeader() {
	for _, h := range []table.Header{table.Found, table.Present} {
		f, err := table.Read(strings.NewReader("1,2\n3,4\n"), &table.Options{Header: h})
		fmt.Println(f.Len(), err)
	}
	// Output:
	// 2 <nil>
	// 1 <nil>
}

// A column is a slice of one of several types.
func ExampleColumn() {
	f := readRooms()
	city, err := table.Column[string](f, "city")
	fmt.Println(city, err)
	area, err := table.Column[float64](f, "area") // NaN where it is missing
	fmt.Println(area, err)
	// Output:
	// [Berlin Bonn Berlin] <nil>
	// [61.5 80 NaN] <nil>
}

// Value is the constraint of the types of columns.
func ExampleValue() {
	fmt.Println(firstOf[string](readRooms(), "sold"))
	fmt.Println(firstOf[time.Time](readRooms(), "sold"))
	// Output:
	// 2024-03-01
	// 2024-03-01 00:00:00 +0000 UTC
}

func firstOf[E table.Value](f *table.Frame, name string) (x E) {
	all, err := table.Column[E](f, name)
	if err != nil {
		panic(err)
	}
	return all[0]
}

// As a float, a date is its number of days.
func ExampleDays() {
	fmt.Println(table.Days(time.Date(1970, 1, 2, 12, 0, 0, 0, time.UTC)))
	// Output: 1.5
}

// Labels are the codes of names, which are sorted.
func ExampleLabels() {
	var l table.Labels
	l, err := readRooms().Labels("city")
	fmt.Println(l.Names, l.Codes, err)
	// Output: [Berlin Bonn] [0 1 0] <nil>
}

// Numbers reads a table that has numbers alone.
func ExampleNumbers() {
	names, rows, err := table.Numbers(strings.NewReader("a,b\n1,2\n3,4\n"))
	fmt.Println(names, rows.Shape(), err)
	// Output: [a b] [2 2] <nil>
}

// Scalers are tensors, and so fields of a model: new data are scaled as in the training.
func ExampleScaler() {
	x := tensor.New([]float32{0, 10, 20, 1000}, 4, 1)
	for _, fit := range []func(tensor.Tensor) (table.Scaler, error){table.MinMaxScaler, table.RobustScaler} {
		s, err := fit(x)
		if err != nil {
			panic(err)
		}
		fmt.Println(s.Apply(x).T(), s.Invert(s.Apply(x)).T())
	}
	// Output:
	// [[0.00 0.01 0.02 1.00]] [[0 10 20 1000]]
	// [[-0.0583 -0.0194 0.0194 3.8252]] [[0 10 20 1000]]
}

// The class of other names comes last.
func ExampleEncoder() {
	var e table.Encoder
	e, err := table.NewEncoder([]string{"red", "blue", "red"}, true)
	if err != nil {
		panic(err)
	}
	codes, _ := e.Codes([]string{"red", "green", "blue"})
	hot, _ := e.OneHot([]string{"red"})
	names, _ := e.Decode(codes)
	fmt.Printf("%v %v %q\n", codes, hot, names)
	// Output: [1 2 0] [[0 1 0]] ["red" "" "blue"]
}
