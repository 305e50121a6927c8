/// A write that a store commits together with other writes.
package protocol GroupedWrite: Sendable {
    /// Reports to the caller that the write failed with this error.
    var refuse: @Sendable (any Error) -> Void { get }
}
