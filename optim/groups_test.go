package optim_test

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

type block struct{ Weight, Bias tensor.Tensor }

type tower struct {
	Embed  tensor.Tensor
	Blocks []block
}

func newTower() tower {
	one := func() tensor.Tensor { return tensor.Ones(1) }
	return tower{one(), []block{{one(), one()}, {one(), one()}, {one(), one()}}}
}

// The first group that has a parameter decides.
func TestGroups(t *testing.T) {
	m := newTower()
	o := optim.New(optim.SGD{WeightDecay: 1}, 0.25)
	o.Groups = optim.Groups{
		{Names: "embed", Frozen: true},
		{Names: "blocks.[12].bias", Rule: optim.SGD{}, LR: 2},
		{Names: "*.bias", Rule: optim.SGD{}},
		{Names: "blocks.0.*", LR: 0.5},
	}
	ones := newTower()
	if err := o.Step(&m, ones); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want float32
	}{
		{"embed", m.Embed, 1},
		{"blocks.0.weight", m.Blocks[0].Weight, 0.75}, // half the rate, with decay
		{"blocks.1.weight", m.Blocks[1].Weight, 0.5},  // of no group
		{"blocks.0.bias", m.Blocks[0].Bias, 0.75},     // of the third group, before the fourth
		{"blocks.2.bias", m.Blocks[2].Bias, 0.5},      // twice the rate, no decay
	} {
		if got := floats(t, c.got)[0]; got != c.want {
			t.Errorf("%s = %v, want %v", c.name, got, c.want)
		}
	}
}

// Rates of groups are operands: all steps run one plan.
func TestGroupsShareAPlan(t *testing.T) {
	freshDevice(t)
	o := optim.New(optim.Adam{}, 0.25)
	o.Groups = optim.Groups{{Names: "*.bias", LR: 0.5}, {Names: "embed", Frozen: true}}
	plans := plansOfSteps(t, o, newTower(), func(m tower) tensor.Tensor {
		return m.Blocks[0].Weight.Add(m.Blocks[0].Bias).Mul(m.Embed).Square().Sum()
	})
	if plans[0] != plans[7] {
		t.Errorf("after each step there are %v plans, want no more after the first", plans)
	}
}

func TestGroupsMisuse(t *testing.T) {
	for _, c := range []struct {
		groups optim.Groups
		want   string
	}{
		{optim.Groups{{Names: "blocks.[0"}}, `the Names of a group are "blocks.[0": syntax error in pattern: see path.Match`},
		{optim.Groups{{Names: "*.gain"}}, `the group of "*.gain" has no parameter in the model: the names are those of tree.All`},
		{optim.Groups{{Names: "*", LR: -1}}, `the LR of the group of "*" is -1: want a factor, or Frozen`},
	} {
		m, o := newTower(), optim.New(optim.SGD{}, 1)
		o.Groups = c.groups
		if err := o.Step(&m, m); err == nil || err.Error() != "optim: Step: "+c.want {
			t.Errorf("Step with %v gave error %v, want %s", c.groups, err, c.want)
		}
	}
	m, o := newTower(), optim.New(optim.SGD{}, 1)
	o.Groups, o.RuleFor = optim.Groups{{Names: "*"}}, func(string) optim.Rule { return o.Rule }
	if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), "RuleFor and Groups: want one of them") {
		t.Errorf("Step with RuleFor and Groups gave error %v", err)
	}
	o = optim.New(broken{}, 1)
	o.Groups = optim.Groups{{Names: "*", LR: 2}}
	if err := o.Step(&m, m); err == nil || !strings.Contains(err.Error(), "optim_test.broken made it") {
		t.Errorf("Step with a rule that fails gave error %v, want one that names the rule", err)
	}
}
