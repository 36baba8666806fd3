package main

import (
	"math"
	"math/rand/v2"
)

// A cartPole is a cart on a track with a pole hinged on it, which falls over unless the cart
// is pushed under it. Units are meters, seconds and radians.
//
// Source: Barto, Sutton, Anderson, "Neuronlike adaptive elements that can solve difficult
// learning control problems", 1983, with the numbers of CartPole-v1 of OpenAI's Gym.
type cartPole struct {
	place, speed float64 // of the cart
	angle, spin  float64 // of the pole; 0 is upright
	steps        int
}

const (
	gravity  = 9.8
	cartMass = 1.
	poleMass = 0.1
	half     = 0.5 // half the pole's length
	push     = 10. // newtons
	interval = 0.02

	track    = 2.4                // the greatest distance from the middle
	lean     = 12 * math.Pi / 180 // the greatest angle
	maxSteps = 500                // an episode that lasts as long has succeeded
)

// observed is the number of numbers that a player sees.
const observed = 4

// newCartPole returns a cart near the middle with a pole near upright.
func newCartPole(r *rand.Rand) *cartPole {
	near := func() float64 { return 0.1*r.Float64() - 0.05 }
	return &cartPole{near(), near(), near(), near(), 0}
}

// state returns a player's view: numbers of about one size.
func (c *cartPole) state() [observed]float32 {
	return [...]float32{float32(c.place / track), float32(c.speed / 2), float32(c.angle / lean), float32(c.spin / 2)}
}

// step pushes the cart to the right or to the left for one interval, by Euler's method. It
// reports whether the pole fell or the cart left the track.
func (c *cartPole) step(right bool) (fell bool) {
	force := -push
	if right {
		force = push
	}
	sin, cos := math.Sincos(c.angle)
	const mass = cartMass + poleMass
	pull := (force + poleMass*half*c.spin*c.spin*sin) / mass
	angular := (gravity*sin - cos*pull) / (half * (4./3 - poleMass*cos*cos/mass))
	linear := pull - poleMass*half*angular*cos/mass

	c.place += interval * c.speed
	c.speed += interval * linear
	c.angle += interval * c.spin
	c.spin += interval * angular
	c.steps++
	return math.Abs(c.place) > track || math.Abs(c.angle) > lean
}
