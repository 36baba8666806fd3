package vector

// A Tuning is the sizes by which iteration spaces are cut. Tests choose small ones,
// to cut small spaces.
type Tuning struct {
	// Blocks have minBlock to about maxBlock points where the shape allows: as
	// many as make the call of a routine cheap, and as few as keep the registers
	// in the first-level cache.
	MinBlock, MaxBlock int
	// MinRow is the length of rows from which on the call of a routine for each row takes less
	// time than to repeat an operand that has one element for each.
	MinRow int
	// TransposeTile is the length of blocks along the contiguous axis of a
	// transposed load. They are twice as long along the last axis.
	TransposeTile int
	// MaxWholeReduction is the greatest number of points of a block that spans
	// whole reductions: its registers stay in the second-level cache.
	MaxWholeReduction int
	// ParallelThreshold is the work, in additions, below which one worker does
	// all: waking another would take longer.
	ParallelThreshold int

	// Threads is how many workers there are. Results do not depend on it.
	Threads int

	// Tiles of a product have strips of rows by at most cols elements, up to span rows in
	// all. They are summed over depth positions at a time. The order of additions follows
	// from these numbers.
	Rows, Cols, Depth, Span int
	// A Panel of the right factor has about panel bytes, by default a quarter of the
	// second-level cache, so that it stays there while the strips pass. Results do not depend
	// on it.
	Panel int
	// DotDepth is the depth, for each row, from which on up to fewRows rows are multiplied by dot products: below, the
	// sums over the lanes of a register take longer than a copy of the right factor. For more rows a copy takes less
	// time than it saves.
	DotDepth, FewRows int
	// Rows at a multiple of conflict bytes compete for few sets of the first-level
	// cache.
	Conflict int
	// Costs of an element of a product beside its multiplications, in multiplications of a register: of a copy
	// along contiguous memory, of a copy that transposes, and of a store across the rows of a tile. TaskCost is of
	// the start of a task. LateShare is the part of a task for which the last worker keeps the others waiting.
	CopyCost, TransposeCost, AcrossCost, TaskCost, LateShare float64
	// RemoteCost is the elements of a factor in memory that a thread reads in the time of one that another core has computed.
	RemoteCost int
	// HeapStep is the moves of a pair that take as long as a step down a heap, and SharedSort the threads that sort a
	// row together as fast as one does alone.
	HeapStep, SharedSort int
	// MaxShared is the greatest size in bytes of a factor that is packed once for all tasks.
	MaxShared int
	// With fewer tiles than minTiles the depth is split, into parts of at least
	// minPart positions.
	MinTiles, MinPart int
	// The temporaries of a block of a loop have at most loopBytes bytes, where rows are
	// short enough, and loops are for rows of at least loopColumns elements. Blocks are of
	// a multiple of loopRows rows, the height of the tiles with AVX-512; plans are the same
	// on all levels.
	LoopBytes, LoopColumns, LoopRows int
}

// Not done, as it would not pay: stores past the caches, because full stores of 64 bytes do
// not read the line first.
var DefaultTuning = Tuning{
	MinBlock: 512, MaxBlock: 2048, MinRow: 64, TransposeTile: 32, MaxWholeReduction: 1 << 15, ParallelThreshold: 1 << 15,
	Rows: 126, Cols: 512, Depth: 256, Span: 504, Panel: 1 << 18, DotDepth: 16, FewRows: 16, HeapStep: 5, SharedSort: 4, Conflict: 2048, CopyCost: 0.25, TransposeCost: 4, AcrossCost: 1, TaskCost: 1024, LateShare: 0.125, RemoteCost: 16, MaxShared: 1 << 26, MinTiles: 8, MinPart: 1024,
	LoopBytes: 1 << 20, LoopColumns: 512, LoopRows: 14,
}

// LongBlock is the length of the blocks that n points are cut into, for a program that
// holds nothing in registers: long runs of memory are prefetched better. There are still
// enough blocks for many cores.
func (t *Tuning) LongBlock(n int) int { return max(t.MaxBlock, min(8*t.MaxBlock, n/32)) }

// serialTuning is for kernels that one worker runs: their depth need not be split.
func (t Tuning) Serial() Tuning {
	t.MinTiles, t.Threads = 1, 1
	return t
}
