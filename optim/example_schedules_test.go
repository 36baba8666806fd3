package optim_test

import (
	"fmt"

	"github.com/tensorken/tensorken/optim"
)

// rates prints the factors of a schedule at the first steps.
func rates(schedule func(step int) float64) {
	for step := range 6 {
		fmt.Printf("%.2f ", schedule(step))
	}
	fmt.Println("…")
}

func ExampleStepDecay() {
	rates(optim.StepDecay(2, 0.5))
	// Output: 1.00 1.00 0.50 0.50 0.25 0.25 …
}

func ExampleMultiStep() {
	rates(optim.MultiStep(0.1, 1, 4))
	// Output: 1.00 0.10 0.10 0.10 0.01 0.01 …
}

func ExampleExponential() {
	rates(optim.Exponential(0.9))
	// Output: 1.00 0.90 0.81 0.73 0.66 0.59 …
}

func ExamplePolynomial() {
	rates(optim.Polynomial(5, 2))
	// Output: 1.00 0.64 0.36 0.16 0.04 0.00 …
}

func ExampleConstant() {
	rates(optim.Constant(2, 0.1))
	// Output: 0.10 0.10 1.00 1.00 1.00 1.00 …
}

// A rise, and after it another schedule.
func ExampleRise() {
	rates(optim.Rise(0.2, 2, optim.Exponential(0.5)))
	// Output: 0.20 0.60 1.00 0.50 0.25 0.12 …
}

func ExampleWarmRestarts() {
	rates(optim.WarmRestarts(2, 2, 0))
	// Output: 1.00 0.50 1.00 0.85 0.50 0.15 …
}

func ExampleOneCycle() {
	rates(optim.OneCycle(6))
	// Output: 0.04 0.99 0.81 0.46 0.13 0.00 …
}
