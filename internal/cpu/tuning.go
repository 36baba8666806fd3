package cpu

// A tuning is the sizes by which iteration spaces are cut. Tests choose small ones,
// to cut small spaces.
type tuning struct {
	// Blocks have minBlock to about maxBlock points where the shape allows: as
	// many as make the call of a routine cheap, and as few as keep the registers
	// in the first-level cache.
	minBlock, maxBlock int
	// minRow is the length of rows from which on the call of a routine for each row takes less
	// time than to repeat an operand that has one element for each.
	minRow int
	// transposeTile is the length of blocks along the contiguous axis of a
	// transposed load. They are twice as long along the last axis.
	transposeTile int
	// maxWholeReduction is the greatest number of points of a block that spans
	// whole reductions: its registers stay in the second-level cache.
	maxWholeReduction int
	// parallelThreshold is the work, in additions, below which one worker does
	// all: waking another would take longer.
	parallelThreshold int

	// Tiles of a product have strips of rows by at most cols elements, up to span rows in
	// all. They are summed over depth positions at a time. The order of additions follows
	// from these numbers.
	rows, cols, depth, span int
	// A panel of the right factor has about panel bytes, by default a quarter of the
	// second-level cache, so that it stays there while the strips pass. Results do not depend
	// on it.
	panel int
	// dotDepth is the depth from which on few rows are multiplied by dot products: below, the sums
	// over the lanes of a register take longer than a copy of the right factor.
	dotDepth int
	// Rows at a multiple of conflict bytes compete for few sets of the first-level
	// cache.
	conflict int
	// maxShared is the greatest size in bytes of a factor that is packed once for all tasks.
	maxShared int
	// With fewer tiles than minTiles the depth is split, into parts of at least
	// minPart positions.
	minTiles, minPart int
	// The temporaries of a block of a loop have at most loopBytes bytes, where rows are
	// short enough, and loops are for rows of at least loopColumns elements. Blocks are of
	// a multiple of loopRows rows, the height of the tiles with AVX-512; plans are the same
	// on all levels.
	loopBytes, loopColumns, loopRows int
}

// Not done, as it would not pay: stores past the caches, because full stores of 64 bytes do
// not read the line first; two operations in one pass, because passes through the
// first-level cache take little of the time.
var defaultTuning = tuning{
	minBlock: 512, maxBlock: 2048, minRow: 64, transposeTile: 32, maxWholeReduction: 1 << 15, parallelThreshold: 1 << 15,
	rows: 126, cols: 512, depth: 256, span: 504, panel: 1 << 18, dotDepth: 64, conflict: 2048, maxShared: 1 << 26, minTiles: 8, minPart: 1024,
	loopBytes: 1 << 20, loopColumns: 512, loopRows: 14,
}

// longBlock is the length of the blocks that n points are cut into, for a program that
// holds nothing in registers: long runs of memory are prefetched better. There are still
// enough blocks for many cores.
func (t *tuning) longBlock(n int) int { return max(t.maxBlock, min(8*t.maxBlock, n/32)) }

// serialTuning is for kernels that one worker runs: their depth need not be split.
func (t tuning) serial() tuning {
	t.minTiles = 1
	return t
}
