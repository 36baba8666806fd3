package simd

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Keyer makes pairs of keys, which have the order of elements of one type, and
// positions: dst[i] = key(x[i])·2³² + first+i for i in [0, n). The order of integers of
// 64 bits takes two keys: KeysHigh has the more significant one.
type Keyer func(dst []uint64, x unsafe.Pointer, first int)

// keyers returns the routine of a type and, if its elements have two keys, the routine of
// the more significant one.
func keyers[T integer](d ir.DType) (key, high Keyer) {
	top := uint32(0) // the bit that Sort inverts, as negative numbers come first
	if d.IsSigned() {
		top = 1 << 31
	}
	if d.Size() == 8 {
		return keys[T](0), highKeys[T](top)
	}
	return keys[T](top), nil
}

func keys[T integer](flip uint32) Keyer {
	return func(dst []uint64, x unsafe.Pointer, first int) {
		v := vec[T](x, len(dst))
		for i := range dst {
			dst[i] = uint64(uint32(v[i])^flip)<<32 | uint64(uint32(first+i))
		}
	}
}

func highKeys[T integer](flip uint32) Keyer {
	return func(dst []uint64, x unsafe.Pointer, first int) {
		v := vec[T](x, len(dst))
		for i := range dst {
			dst[i] = uint64(uint32(uint64(v[i])>>32)^flip)<<32 | uint64(uint32(first+i))
		}
	}
}

// Digits is the number of values of a digit of a key.
const Digits = 1 << digitBits

const (
	digitBits  = 8
	digitShift = 32 // of the first digit in a pair
	// Places is the number of digits of a key.
	Places = 32 / digitBits
)

// CountDigits counts the digits of a place, 0 the least, in pairs.
func CountDigits(count *[Digits]int, pairs []uint64, place int) {
	shift := digitShift + place*digitBits
	*count = [Digits]int{}
	for _, p := range pairs {
		count[p>>(shift&63)%Digits]++
	}
}

// MoveByDigit moves pairs to dst: next[d] is the place of the next pair with digit d.
func MoveByDigit(dst, pairs []uint64, next *[Digits]int, place int) {
	shift := digitShift + place*digitBits
	for _, p := range pairs {
		d := p >> (shift & 63) % Digits
		dst[next[d]] = p
		next[d]++
	}
}

// Buckets divide pairs into ranges of equal length, of which the least pairs are in the
// first. Pairs below and above all ranges are in the first and the last.
type Buckets struct {
	lo    uint64
	shift uint
}

// BucketCount is the number of buckets.
const BucketCount = 1 << 12

// NewBuckets returns buckets from lo to hi, both included.
func NewBuckets(lo, hi uint64) Buckets {
	return Buckets{lo, uint(max(bits.Len64(hi-lo)-bits.Len(BucketCount-1), 0))}
}

// of returns the bucket of a pair.
func (b Buckets) of(pair uint64) uint64 {
	return min((max(pair, b.lo)-b.lo)>>(b.shift&63), BucketCount-1)
}

// Count adds the number of pairs in each bucket.
func (b Buckets) Count(count *[BucketCount]int, pairs []uint64) {
	for _, p := range pairs {
		count[b.of(p)]++
	}
}

// Move moves pairs to dst: next[i] is the place of the next pair of bucket i.
func (b Buckets) Move(dst, pairs []uint64, next *[BucketCount]int) {
	for _, p := range pairs {
		i := b.of(p)
		dst[next[i]] = p
		next[i]++
	}
}

// shortRow is the length up to which comparing pairs is faster than counting digits.
const shortRow = 96

// SortPairs sorts pairs, which are in the order of their positions, by key. It uses
// spare, of the same length, and returns the one of both that holds the result.
func SortPairs(pairs, spare []uint64) []uint64 {
	if len(pairs) <= shortRow {
		slices.Sort(pairs)
		return pairs
	}
	if slices.IsSorted(pairs) { // as pairs of equal keys are
		return pairs
	}
	for place := range Places {
		var count [Digits]int
		CountDigits(&count, pairs, place)
		if Starts(&count, len(pairs)) {
			MoveByDigit(spare, pairs, &count, place)
			pairs, spare = spare, pairs
		}
	}
	return pairs
}

// Starts turns the counts of n pairs into the place of the first pair with each digit.
// It reports false if all pairs have the same digit.
func Starts(count *[Digits]int, n int) bool {
	at := 0
	for d, c := range count {
		if c == n {
			return false
		}
		count[d] = at
		at += c
	}
	return true
}

// Least keeps the least pairs of those that it has seen, up to the capacity of heap,
// whose greatest is the first. It returns the heap.
func Least(heap, pairs []uint64) []uint64 {
	for len(heap) < cap(heap) && len(pairs) > 0 {
		heap = append(heap, pairs[0])
		pairs = pairs[1:]
		for i := len(heap) - 1; i > 0 && heap[(i-1)/2] < heap[i]; i = (i - 1) / 2 {
			heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		}
	}
	if len(heap) == 0 {
		return heap
	}
	most := heap[0]
	for _, p := range pairs {
		if p < most {
			heap[0] = p
			sink(heap)
			most = heap[0]
		}
	}
	return heap
}

// sink moves the first element of a heap to its place.
func sink(heap []uint64) {
	x, i := heap[0], 0
	for {
		c := 2*i + 1
		if c+1 < len(heap) && heap[c+1] > heap[c] {
			c++
		}
		if c >= len(heap) || heap[c] <= x {
			break
		}
		heap[i] = heap[c]
		i = c
	}
	heap[i] = x
}

// allTrue is eight elements of bool that are true.
const allTrue = 0x0101010101010101

// FalsePositions writes the positions, from first on, of the elements of x that are
// false to dst, which has room for n+1, and returns their number. It passes over eight
// elements at a time that are true, as nearly all are in the inverse of a sparse mask.
func FalsePositions(dst []int32, x unsafe.Pointer, n, first int) int {
	v, count := vec[uint8](x, n), 0
	for i := 0; i < n; {
		if i+8 <= n && *(*uint64)(unsafe.Pointer(&v[i])) == allTrue {
			i += 8
			continue
		}
		for end := min(i+8, n); i < end; i++ {
			dst[count] = int32(first + i)
			count += 1 - int(v[i])
		}
	}
	return count
}

// CountFalse returns the number of elements of x that are false.
func CountFalse(x unsafe.Pointer, n int) int {
	v, count, i := vec[uint8](x, n), n, 0
	for ; i+8 <= n; i += 8 {
		count -= bits.OnesCount64(*(*uint64)(unsafe.Pointer(&v[i])))
	}
	for ; i < n; i++ {
		count -= int(v[i])
	}
	return count
}
