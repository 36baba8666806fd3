package exec

// ForceGC runs a collection as devices do.
var ForceGC = forceGC
