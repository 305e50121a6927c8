/// Comparisons whose duration tells nothing about where two values differ.
package enum ConstantTime {
    /// Whether both hold the same bytes. Takes as long as the shorter is long; lengths are not secret.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
