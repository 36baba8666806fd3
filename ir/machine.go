package ir

// A Machine is the figures of a device by which the compiler estimates times, roughly: the most
// that the device can do, by its maker's data. The zero Machine is an ordinary CPU.
type Machine struct {
	Bandwidth float64 // bytes of memory per second
	Launch    float64 // seconds by which one more kernel lengthens a plan, beside its work
	Adds      float64 // additions of float32 per second; other operations count by Table's Cost
	// Halves is the number of products of halves in memory that are added up per second by
	// instructions for matrices, which then multiply in attention too. It is 0 without such instructions.
	Halves float64
	// Columns is the columns of a tile of products in vector registers, as of a CPU, which read and store rows of a
	// matrix faster than columns. It is 0 for a GPU, which transposes tiles in fast memory.
	Columns int
	// DeepTiles says that tiles of products take neighbours along the depth, as instructions for matrices of TF32: then
	// channels are innermost in images between products, and in the weights that these read.
	DeepTiles bool
}

// ordinary is a core with vectors of 16 float32, which has half of a memory channel.
var ordinary = Machine{Bandwidth: 17.5e9, Adds: 50e9, Launch: 1e-6}

// MoveTime estimates the seconds for which bytes keep the memory busy.
func (m Machine) MoveTime(bytes int) float64 {
	if m.Bandwidth == 0 {
		m = ordinary
	}
	return float64(bytes) / m.Bandwidth
}

// AddTime estimates the seconds for additions of float32.
func (m Machine) AddTime(additions int) float64 {
	if m.Adds == 0 {
		m = ordinary
	}
	return float64(additions) / m.Adds
}

// IsWorthLaunch reports whether the moves of some bytes take longer than the launch of a kernel.
func (m Machine) IsWorthLaunch(bytes int) bool { return !m.IsWithinLaunch(m.MoveTime(bytes)) }

// IsWithinLaunch reports whether the launch of a kernel takes some seconds or longer.
func (m Machine) IsWithinLaunch(seconds float64) bool {
	launch := m.Launch
	if launch == 0 {
		launch = ordinary.Launch
	}
	return seconds <= launch
}
