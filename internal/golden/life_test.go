package golden

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// docs/life-of-an-add.md shows one operation after each stage; its texts are printed by the
// code as it is.
func TestLifeOfAnAdd(t *testing.T) {
	x, y := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.New([]float32{10, 20, 30}, 3)
	z := x.Add(y)
	plan := tensor.Explain(z)

	// The same graph as exec captures it: two leaves and the results of them.
	a := graph.Leaf(ir.Float32, []int{2, 3}, 0, []int{1, 3, 1})
	b := graph.Leaf(ir.Float32, []int{3}, 1, []int{1, 1})
	sum := graph.Binary(ir.Add, a, graph.BroadcastTo(b, a.Shape))
	var nodes strings.Builder
	number := map[*graph.Node]int{}
	for i, n := range graph.Sorted([]*graph.Node{sum}) {
		number[n] = i
		fmt.Fprintf(&nodes, "n%d = %v %v %v", i, n.Op, n.DType, n.Shape)
		for _, s := range n.Src().All() {
			fmt.Fprintf(&nodes, " n%d", number[s])
		}
		nodes.WriteByte('\n')
	}
	kernels, _ := kernelize.Graph(simplify.Nodes([]*graph.Node{sum}), kernelize.Options{})
	if len(kernels) != 1 {
		t.Fatalf("%d kernels, want 1", len(kernels))
	}
	program, err := schedule.Compile(kernels[0].Kernel, schedule.Target{})
	if err != nil {
		t.Fatal(err)
	}
	pass := program.Passes[0]

	var md strings.Builder
	section := func(title, text, lang, code string) {
		fmt.Fprintf(&md, "\n## %s\n\n%s\n\n```%s\n%s\n```\n", title, text, lang, strings.TrimSpace(code))
	}
	md.WriteString("# The life of an Add\n\nWhat each stage makes of one operation. `go test ./internal/golden -update` writes\nthis page from the code.\n")
	section("The program", "`tensor.Add` checks the operands, broadcasts them and makes a node. Nothing is computed.", "go", `x := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
y := tensor.New([]float32{10, 20, 30}, 3)
z := x.Add(y)
fmt.Println(z)`)
	section("Nodes", "Printing `z` asks for its elements. `internal/capture` captures the graph: stored tensors\nbecome leaves, and the rest a key under which the plan is cached. On a miss it builds the\ngraph once more, on numbered leaves.", "", nodes.String())
	section("The kernel", "`internal/simplify` rewrites the graph, `internal/kernelize` lowers it. Movements become\nviews: the broadcast is a load whose coefficient for the first axis is 0.", "", kernels[0].String())
	section("The plan", "`internal/compile` orders the kernels and assigns buffers. `tensor.Explain` shows it.", "", plan)
	section("WGSL", fmt.Sprintf("A CPU runs the kernel in blocks of loops from `internal/simd`. For a GPU,\n`internal/schedule` decides passes and threads, here one pass of %d workgroup of %d\nthreads, and `internal/wgsl` prints it.", pass.Groups(), pass.Threads), "wgsl", wgsl.Print(pass))
	section("The buffer", "The result moves from the plan's pool to the node, which drops its operands.", "", fmt.Sprint(z))
	goldentext.Check(t, "../../docs/life-of-an-add.md", md.String())
}
