package proto

// The messages of onnx.proto, without the fields that nothing reads.

// A Model is a ModelProto.
type Model struct {
	IRVersion         int64
	Producer, Version string
	Domain, Doc       string
	Opsets            []Opset
	Graph             *Graph
	Functions         []*Function
	Metadata          []Pair
}

// An Opset is a version of the operators of a domain.
type Opset struct {
	Domain  string
	Version int64
}

// A Pair is a StringStringEntryProto.
type Pair struct{ Key, Value string }

// A Graph is a GraphProto.
type Graph struct {
	Name                   string
	Nodes                  []*Node
	Initializers           []*Tensor
	Sparse                 []*Sparse
	Inputs, Outputs, Infos []*ValueInfo
}

// A Node is a NodeProto.
type Node struct {
	Name, Op, Domain, Overload string
	Inputs, Outputs            []string
	Attrs                      []*Attr
}

// An Attr is an AttributeProto.
type Attr struct {
	Name    string
	Ref     string // the attribute of the function that it stands for
	Type    int64
	F       float32
	I       int64
	S       string
	T       *Tensor
	G       *Graph
	Sparse  *Sparse
	Floats  []float32
	Ints    []int64
	Strings []string
	Tensors []*Tensor
	Graphs  []*Graph
	TP      *Type
}

// A Tensor is a TensorProto.
type Tensor struct {
	Name     string
	Dims     []int64
	Type     int64
	Raw      *Section // little-endian elements
	Lists    []List   // elements as lists of numbers
	Strings  []string // elements of type string
	External []Pair   // the place of the elements in another file
	Apart    bool     // the elements are in another file
	Memory   []byte   // elements as in Raw, for Encode
	Decoded  any      // the value, once it has been read: the file may be closed later
}

// A List is float_data, int32_data, int64_data, double_data or uint64_data.
type List struct {
	Size    int // in bytes of a number; 0: varints
	One     uint64
	Section *Section // nil: One is the only number
}

// A Sparse is a SparseTensorProto.
type Sparse struct {
	Values, Indices *Tensor
	Dims            []int64
}

// A ValueInfo is a ValueInfoProto.
type ValueInfo struct {
	Name string
	Type *Type
}

// Kinds of types, by their fields in a TypeProto.
const (
	KindTensor   = 1
	KindSequence = 4
	KindMap      = 5
	KindSparse   = 8
	KindOptional = 9
)

// A Type is a TypeProto.
type Type struct {
	Kind     int
	Elem     int64 // of a tensor
	HasShape bool
	Dims     []Dim
	Key      int64 // of a map
	Inner    *Type // of a sequence, optional or map
}

// A Dim is the length of an axis: a number, a name, or unknown.
type Dim struct {
	Value int64 // -1 unless it is known
	Param string
}

// A Function is a FunctionProto.
type Function struct {
	Name, Domain, Overload string
	Inputs, Outputs, Attrs []string
	Defaults               []*Attr
	Nodes                  []*Node
	Opsets                 []Opset
}
