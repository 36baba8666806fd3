package parallel_test

import (
	"fmt"
	"log"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/models/parallel"
)

// A program on each of two GPUs would call dist.Init, and move its part to its GPU by tree.To.
func ExampleDivide() {
	err := dist.Local(2, func(g *dist.Group) error {
		m, err := models.LoadLlama("../testdata/llama_gqa")
		if err != nil {
			return err
		}
		part, err := parallel.Divide(g, m)
		if err != nil {
			return err
		}
		texts, err := (&models.Generator{Model: part, MaxTokens: 4}).Generate([][]int32{{1, 5, 7}})
		if err == nil && g.Rank() == 0 {
			fmt.Println(len(texts[0]), "tokens of", part.Model.Layers[0].SelfAttn.Settings.Heads, "heads of", m.Model.Layers[0].SelfAttn.Settings.Heads)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 4 tokens of 2 heads of 4
}
