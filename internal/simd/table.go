package simd

import (
	"maps"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// The types of elements, by the routines that they have.

type integer interface {
	uint8 | int8 | uint16 | int16 | int32 | uint32 | int64 | uint64
}

type float interface{ float32 | float64 }

type number interface{ integer | float }

// columns has the routines of each type; the tables below are the same by operation first.
var columns = []column{
	boolColumn(),
	integerColumn[uint8](ir.Uint8), integerColumn[int8](ir.Int8), integerColumn[uint16](ir.Uint16), integerColumn[int16](ir.Int16),
	integerColumn[int32](ir.Int32), integerColumn[uint32](ir.Uint32), integerColumn[int64](ir.Int64), integerColumn[uint64](ir.Uint64),
	float32Column(), float64Column(),
	halfColumn(ir.Float16, ir.F16.Float32, ir.ToF16), halfColumn(ir.BFloat16, ir.BF16.Float32, ir.ToBF16),
}

// A column has the routines of one type, nil for operations that the type lacks.
type column struct {
	dtype      ir.DType
	unaries    map[ir.Op]Unary
	binaries   map[ir.Op]Modes
	where      Choices
	reductions map[ir.Op]Reduction
	argMax     ArgMax
	dot        Dot
	product    Product
	dotTile    DotTile
	filter     Filter
	scatterers map[ir.Op]Scatterer
	scans      map[ir.Op]scan
	key, high  Keyer
}

// numberColumn has the routines that integers and floats share.
func numberColumn[T number](d ir.DType) column {
	return column{
		dtype:   d,
		unaries: map[ir.Op]Unary{ir.Neg: negV[T]},
		binaries: map[ir.Op]Modes{
			ir.Add: commute(addVV[T], addVS[T]),
			ir.Sub: {subVV[T], subVS[T], subSV[T]},
			ir.Mul: commute(mulVV[T], mulVS[T]),
			ir.Max: commute(maxVV[T], maxVS[T]),
			ir.Min: commute(minVV[T], minVS[T]),
			ir.Eq:  commute(eqVV[T], eqVS[T]),
			ir.Lt:  {ltVV[T], ltVS[T], ltSV[T]},
		},
		where:      choicesBySize[d.Size()],
		reductions: map[ir.Op]Reduction{ir.ReduceMax: maxes[T](d)},
		argMax:     argMaxes[T](),
		scatterers: scatterers(combiners[T]()),
		scans:      scans[T](d.Size()),
	}
}

// integerColumn has the routines of integers. Integers narrower than their sum are converted
// before they are added.
func integerColumn[T integer](d ir.DType) column {
	c := numberColumn[T](d)
	c.unaries[ir.Not] = notV[T]
	maps.Copy(c.binaries, map[ir.Op]Modes{
		ir.Div: {VV: quoVV[T]},
		ir.Rem: {VV: remVV[T]},
		ir.Pow: {VV: powVV[T]},
		ir.And: {VV: andVV[T]},
		ir.Or:  {VV: orVV[T]},
		ir.Xor: {VV: xorVV[T]},
		ir.Shl: {VV: shlVV[T]},
		ir.Shr: {VV: shrVV[T]},
	})
	c.reductions[ir.Prod] = prods[T, T](d)
	if d.SumType() == d {
		c.reductions[ir.Sum] = sums[T, T](d)
		c.product = plainProduct[T]()
	}
	c.key, c.high = keyers[T](d)
	return c
}

// boolColumn has the routines of bools, which are bytes of 0 and 1.
func boolColumn() column {
	c := integerColumn[uint8](ir.Bool)
	c.unaries = map[ir.Op]Unary{ir.Not: notBool}
	c.scans = nil
	number := func(op ir.Op) bool { return !ir.Table[op].Types.Has(ir.Bool) }
	maps.DeleteFunc(c.binaries, func(op ir.Op, _ Modes) bool { return number(op) })
	maps.DeleteFunc(c.reductions, func(op ir.Op, _ Reduction) bool { return number(op) })
	maps.DeleteFunc(c.scatterers, func(op ir.Op, _ Scatterer) bool { return number(op) })
	return c
}

// floatColumn has the routines that floats share. They are added and multiplied in float64.
func floatColumn[T float](d ir.DType) column {
	c := numberColumn[T](d)
	c.unaries[ir.Sqrt] = sqrtV[T]
	c.unaries[ir.Floor] = floorV[T]
	c.binaries[ir.Div] = Modes{divVV[T], divVS[T], divSV[T]}
	c.binaries[ir.Rem] = Modes{VV: modVV[T]}
	c.reductions[ir.Sum] = sums[T, float64](ir.Float64)
	c.reductions[ir.Prod] = prods[T, float64](ir.Float64)
	c.dot = dots[T]()
	c.dotTile = DotTile{plainDotRows, dotTile(func(x T) T { return x })}
	c.product = plainProduct[T]()
	c.filter = plainFilter[T]()
	return c
}

func float32Column() column {
	c := floatColumn[float32](ir.Float32)
	maps.Copy(c.unaries, map[ir.Op]Unary{
		ir.Exp:   exp,
		ir.Expm1: unary32(expm132),
		ir.Log:   unary32(log32),
		ir.Log1p: unary32(log1p32),
		ir.Log2:  unary32(log232),
		ir.Sin:   unary32(sin32),
		ir.Cos:   unary32(cos32),
		ir.Atan:  unary32(atan32),
		ir.Tanh:  unary32(tanh32),
		ir.Erf:   unary32(erf32),
		ir.Erfc:  unary32(erfc32),
	})
	c.binaries[ir.Pow] = Modes{VV: binary32(pow32)}
	c.binaries[ir.Atan2] = Modes{VV: binary32(atan232)}
	return c
}

func float64Column() column {
	c := floatColumn[float64](ir.Float64)
	maps.Copy(c.unaries, map[ir.Op]Unary{
		ir.Exp:   unary64(exp64),
		ir.Expm1: unary64(math.Expm1),
		ir.Log:   unary64(math.Log),
		ir.Log1p: unary64(math.Log1p),
		ir.Log2:  unary64(log264),
		ir.Sin:   unary64(math.Sin),
		ir.Cos:   unary64(math.Cos),
		ir.Atan:  unary64(math.Atan),
		ir.Tanh:  unary64(math.Tanh),
		ir.Erf:   unary64(math.Erf),
		ir.Erfc:  unary64(math.Erfc),
	})
	c.binaries[ir.Pow] = Modes{VV: binary64(math.Pow)}
	c.binaries[ir.Atan2] = Modes{VV: binary64(math.Atan2)}
	return c
}

// halfColumn has the routines that round to a 16-bit type; others compute in float32.
func halfColumn[H any](d ir.DType, widen func(H) float32, narrow func(float32) H) column {
	return column{
		dtype: d, scatterers: scatterers(rounded(combiners[float32](), widen, narrow)),
		dotTile: DotTile{plainDotRows, dotTile(widen)},
	}
}

// table returns, by type, the routines that the function of selects.
func table[R any](of func(c *column) R) (t [Types]R) {
	for i := range columns {
		t[columns[i].dtype] = of(&columns[i])
	}
	return t
}

// tableByOp returns, by operation and type, the routines that the function of selects.
func tableByOp[R any](of func(c *column) map[ir.Op]R) (t [ir.Ops][Types]R) {
	for i := range columns {
		for op, r := range of(&columns[i]) {
			t[op][columns[i].dtype] = r
		}
	}
	return t
}

var (
	// Unaries has the routines of operations on one operand by its type; for Cast see
	// Casts.
	Unaries = tableByOp(func(c *column) map[ir.Op]Unary { return c.unaries })

	// Binaries has the routines of operations on two operands by their type.
	Binaries = tableByOp(func(c *column) map[ir.Op]Modes { return c.binaries })

	// Wheres has the routines of Where by the type of its last operands.
	Wheres = table(func(c *column) Choices { return c.where })

	// Reductions has the reductions by operation and by type of element. Elements
	// narrower than their sum are converted before they are added.
	Reductions = tableByOp(func(c *column) map[ir.Op]Reduction { return c.reductions })

	// ArgMaxes has the routines by the type of elements.
	ArgMaxes = table(func(c *column) ArgMax { return c.argMax })

	// Dots has the routines by type. Their accumulators are a sum's.
	Dots = table(func(c *column) Dot { return c.dot })

	// Products has the routines by the type of factors. Int8's sums are int32: only levels
	// whose routines are faster than Int32's have them. Elements of BFloat16's are pairs at successive
	// positions of the depth, its sums are float32, and subnormal numbers may count as 0.
	Products = table(func(c *column) Product { return c.product })

	// DotTiles has the routines by the type of b in memory. The other elements are of its
	// ComputeType. Int32's are pairs of BFloat16, see Products.
	DotTiles = table(func(c *column) DotTile { return c.dotTile })
	// Filters has routines for floats.
	Filters = table(func(c *column) Filter { return c.filter })

	// Scatterers has the routines by how elements are combined (Add, Mul, Max, Min; Copy: replaced)
	// and by their type.
	Scatterers = tableByOp(func(c *column) map[ir.Op]Scatterer { return c.scatterers })

	// Scanners has the routines by how elements are combined (Add, Mul, Max, Min) and by
	// their type.
	Scanners = makeScanners()

	// Keys and KeysHigh have the routines by type.
	Keys     = table(func(c *column) Keyer { return c.key })
	KeysHigh = table(func(c *column) Keyer { return c.high })

	// Casts has the routines of Cast by the types from and to. The 16-bit types
	// convert only from and to float32.
	Casts = makeCasts()
)

// makeScanners gives each scan the routines of its operation.
func makeScanners() (t [ir.Ops][Types]Scanner) {
	for i := range columns {
		d := columns[i].dtype
		for op, f := range columns[i].scans {
			t[op][d] = f(&Binaries[op][d])
		}
	}
	return t
}

func makeCasts() (t [Types][Types]Unary) {
	t[ir.Bool] = fromInteger[uint8](ir.Bool)
	t[ir.Bool][ir.Uint8] = copyV[uint8]
	t[ir.Uint8] = fromInteger[uint8](ir.Uint8)
	t[ir.Int8] = fromInteger[int8](ir.Int8)
	t[ir.Uint16] = fromInteger[uint16](ir.Uint16)
	t[ir.Int16] = fromInteger[int16](ir.Int16)
	t[ir.Int32] = fromInteger[int32](ir.Int32)
	t[ir.Uint32] = fromInteger[uint32](ir.Uint32)
	t[ir.Int64] = fromInteger[int64](ir.Int64)
	t[ir.Uint64] = fromInteger[uint64](ir.Uint64)
	t[ir.Float32] = fromFloat[float32](ir.Float32)
	t[ir.Float64] = fromFloat[float64](ir.Float64)
	t[ir.Float16][ir.Float32], t[ir.Float32][ir.Float16] = widenF16, narrowF16
	t[ir.BFloat16][ir.Float32], t[ir.Float32][ir.BFloat16] = widenBF16, narrowBF16
	return t
}

// fromInteger and fromFloat have the routines from a type.
func fromInteger[F integer](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool:    truth[F],
		ir.Uint8:   convert[F, uint8],
		ir.Int8:    convert[F, int8],
		ir.Uint16:  convert[F, uint16],
		ir.Int16:   convert[F, int16],
		ir.Int32:   convert[F, int32],
		ir.Uint32:  convert[F, uint32],
		ir.Int64:   convert[F, int64],
		ir.Uint64:  convert[F, uint64],
		ir.Float32: convert[F, float32],
		ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}

func fromFloat[F float](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool:    truth[F],
		ir.Uint8:   saturate[F, uint8](0, math.MaxUint8),
		ir.Int8:    saturate[F, int8](math.MinInt8, math.MaxInt8),
		ir.Uint16:  saturate[F, uint16](0, math.MaxUint16),
		ir.Int16:   saturate[F, int16](math.MinInt16, math.MaxInt16),
		ir.Int32:   saturate[F, int32](math.MinInt32, math.MaxInt32),
		ir.Uint32:  saturate[F, uint32](0, math.MaxUint32),
		ir.Int64:   saturate[F, int64](math.MinInt64, math.MaxInt64),
		ir.Uint64:  saturate[F, uint64](0, math.MaxUint64),
		ir.Float32: convert[F, float32],
		ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}
