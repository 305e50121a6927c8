/// Comparisons whose duration does not depend on the compared bytes.
package enum ConstantTime {
    /// Returns whether both collections contain the same bytes.
    ///
    /// The duration depends only on the lengths, which are not secret. For different lengths the result is false at
    /// once.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
