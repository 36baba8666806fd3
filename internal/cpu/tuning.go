package cpu

// A tuning is the sizes by which spaces are cut. Tests choose small ones, to
// cut small spaces.
type tuning struct {
	// Blocks have at least enough points and at most about most where the
	// shape allows: enough to make the choice of a routine cheap, few enough
	// for the registers of a block to stay in the first cache.
	enough, most int
	// side is the length of blocks along the axis along which one operand is
	// dense, if another one is along the last; along that they are twice as
	// long.
	side int
	// whole is the most points of a block that holds whole reductions: its
	// registers stay in the second cache.
	whole int
	// small is the work, in additions, below which one worker does it all:
	// waking another would take longer.
	small int

	// Tiles of a product have so many rows and columns, and are summed over
	// so many positions at a time: a panel of the right factor stays in the
	// second cache while rows of the left one pass.
	rows, cols, depth int
	// A factor with a stride above this is packed even if it could be used
	// where it is: its rows would fight for the same places of the cache.
	stride int
	// With fewer tiles than this, the depth is cut into parts, if they are of
	// part positions or more.
	tiles, part int
}

var defaultTuning = tuning{
	enough: 512, most: 2048, side: 32, whole: 1 << 15, small: 1 << 15,
	rows: 128, cols: 256, depth: 256, stride: 1024, tiles: 8, part: 1024,
}
