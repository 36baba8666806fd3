package table_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// flats is a table of flats that were sold. An area is missing.
const flats = `city,area,sold,price
Rome,50,2024-01-15,205
Oslo,80,2024-02-01,420
Rome,100,2024-03-20,410
Bern,60,2024-04-02,370
Oslo,NA,2024-05-11,380
Bern,90,2024-06-30,520
Rome,75,2024-07-08,315
Oslo,50,2024-08-21,285
Bern,75,2024-10-05,460
`

// A model predicts prices of flats. Scalers and encoder are saved with the weights.
type model struct {
	City         table.Encoder
	Input, Price table.Scaler
	Net          nn.Linear
}

// A sale is a row of the table.
type sale struct {
	City []string
	Area tensor.Tensor
	Sold tensor.Tensor // days since 1970-01-01
}

// features returns the inputs of the network, [rows features]: missing values are 0, the mean.
func (m model) features(s sale) (tensor.Tensor, error) {
	city, err := m.City.OneHot(s.City)
	if err != nil {
		return city, err
	}
	numbers := m.Input.Apply(tensor.Stack(1, s.Area, s.Sold))
	return tensor.Cat(1, city, tensor.Where(numbers.IsNaN(), 0, numbers)), nil
}

// Example trains a regression on a table with names, dates and missing values, saves it, and
// predicts a price with the model that was loaded.
func Example() {
	f, err := table.Read(strings.NewReader(flats), nil)
	check(err)
	fmt.Print(f)
	var rows sale
	check(f.Into(&rows))
	prices, err := f.Tensor(tensor.Float32, "price") // [rows 1]
	check(err)

	var m model
	m.City, err = table.NewEncoder(rows.City, true)
	check(err)
	m.Input, err = table.StandardScaler(tensor.Stack(1, rows.Area, rows.Sold))
	check(err)
	m.Price, err = table.StandardScaler(prices)
	check(err)
	x, err := m.features(rows)
	check(err)
	m.Net = nn.NewLinear(tensor.NewRNG(1), x.Dim(1), 1)
	loss, err := optim.Minimize(&optim.LBFGS{}, &m, func(m model) tensor.Tensor {
		return m.Net.Apply(x).Sub(m.Price.Apply(prices)).Square().Mean()
	})
	check(err)
	fmt.Printf("loss %.3f\n", loss)

	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "flats.safetensors")
	check(safetensors.Save(path, m))
	var loaded model
	check(safetensors.Load(path, &loaded))

	// Cities and rows that the model has not seen.
	f, err = table.Read(strings.NewReader("city,area,sold\nOslo,65,2024-07-01\nParis,65,2024-07-01\n"), nil)
	check(err)
	var asked sale
	check(f.Into(&asked))
	x, err = loaded.features(asked)
	check(err)
	price := loaded.Price.Invert(loaded.Net.Apply(x))
	for i, city := range asked.City {
		fmt.Printf("%s %.0f\n", city, price.At(i, 0).Item())
	}
	// Output:
	// 9 rows, separated by ','; line 1 is a header: "area" in column 2 is a name above other values
	// city   text
	// area   int    1 missing
	// sold   date
	// price  int
	// loss 0.006
	// Oslo 353
	// Paris 337
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
