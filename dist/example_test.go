package dist_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/tensor"
)

// Ranks are goroutines here, and processes with Init.
func ExampleLocal() {
	err := dist.Local(4, func(g *dist.Group) error {
		x := tensor.New([]float32{float32(g.Rank()), 1})
		sum, err := tensor.Data[float32](dist.AllReduce(g, x, dist.Sum))
		if g.Rank() == 0 {
			fmt.Println(sum)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [6 4]
}

// A program that no launcher has started is a group of one rank.
func ExampleInit() {
	g, err := dist.Init(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	fmt.Println(g)
	// Output: rank 0 of 1
}

// A cluster whose hosts start slowly needs a longer deadline.
func ExampleOptions() {
	g, err := dist.Init(&dist.Options{Deadline: 10 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
}

// The ranks' gradients are averaged, in one step.
func ExampleGroup_Mean() {
	err := dist.Local(2, func(g *dist.Group) error {
		r := float32(g.Rank())
		means := g.Mean(tensor.New([]float32{r, 1}), tensor.New([]float32{10 * r}))
		err := tensor.Eval(means)
		if g.Rank() == 1 {
			fmt.Println(means[0], means[1])
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [0.5 1.0] [5]
}

// The error names the rank that failed.
func ExampleFailure() {
	dist.Local(2, func(g *dist.Group) error {
		if g.Rank() == 1 {
			return errors.New("no such file")
		}
		_, err := dist.AllReduce(g, tensor.New([]float32{1}), dist.Sum).Bytes()
		var failure *dist.Failure
		if errors.As(err, &failure) {
			fmt.Printf("rank %d: %s\n", failure.Rank, failure.Cause)
		}
		return err
	})
	// Output: rank 1: no such file
}

// The rows of all ranks, one after the other.
func ExampleAllGather() {
	dist.Local(2, func(g *dist.Group) error {
		y := dist.AllGather(g, tensor.Full(float64(g.Rank()), 1, 3))
		text := y.String() // on all ranks
		if g.Rank() == 0 {
			fmt.Println(text)
		}
		return nil
	})
	// Output:
	// [[0 0 0]
	//  [1 1 1]]
}

// Each rank gets its part of the sum.
func ExampleReduceScatter() {
	dist.Local(2, func(g *dist.Group) error {
		text := dist.ReduceScatter(g, tensor.New([]float32{1, 2, 3, 4}), dist.Sum).String()
		if g.Rank() == 1 {
			fmt.Println(text)
		}
		return nil
	})
	// Output: [6 8]
}

// The initial weights of rank 0 are everybody's.
func ExampleBroadcast() {
	dist.Local(2, func(g *dist.Group) error {
		w := dist.Broadcast(g, tensor.New([]float32{float32(g.Rank()) + 7}), 0).Item()
		if g.Rank() == 1 {
			fmt.Println(w)
		}
		return nil
	})
	// Output: 7
}

func ExampleReduction() {
	dist.Local(2, func(g *dist.Group) error {
		x := tensor.New([]float32{float32(g.Rank())})
		for _, r := range []dist.Reduction{dist.Sum, dist.Max, dist.Mean} {
			y := dist.AllReduce(g, x, r).Item() // on all ranks
			if g.Rank() == 0 {
				fmt.Println(r, y)
			}
		}
		return nil
	})
	// Output:
	// Sum 1
	// Max 1
	// Mean 0.5
}
