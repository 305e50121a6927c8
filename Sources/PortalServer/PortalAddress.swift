import Synchronization

/// The address of the portal for links to it. If the kernel chooses the port, the address is known only once the portal
/// listens.
package final class PortalAddress: Sendable {
    private let makeURL: @Sendable (Int) -> String
    private let port = Mutex<Int?>(nil)

    /// - Parameter makeURL: returns the beginning of every link, without a final slash, for the port on which the
    ///   portal listens.
    package init(makeURL: @escaping @Sendable (Int) -> String) { self.makeURL = makeURL }

    /// The beginning of every link to the portal, without a final slash; nil while the portal does not listen yet.
    package var url: String? { port.withLock { $0 }.map(makeURL) }

    func setPort(_ number: Int) { port.withLock { $0 = number } }
}
