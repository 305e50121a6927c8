import CLinux
package import Logging

/// Returns freed memory to the system. Otherwise glibc would keep the memory: after 2,000 TLS connections have closed,
/// about 200 MB would stay with the daemon.
package struct FreeMemoryReturn: RecurringTask {
    /// Below this number of freed bytes, returning them is not worth the work: malloc_trim(3) locks one part of the
    /// heap after the other, for some milliseconds if there is much to return.
    package static let worthwhileBytes = 32 << 20

    private let memory: @Sendable () -> DaemonMemory?
    private let returnFreeMemory: @Sendable () -> Void
    private let logger: Logger
    /// The freed bytes that the last call could not return, because they lie between blocks in use.
    private var unreturnableBytes = 0

    /// - Parameters:
    ///   - memory: the process's memory; nil if it is not known.
    ///   - returnFreeMemory: malloc_trim(3).
    package init(
        memory: @escaping @Sendable () -> DaemonMemory? = { DaemonMemory.current },
        returnFreeMemory: @escaping @Sendable () -> Void = { _ = clinux_return_free_memory() }, logger: Logger
    ) {
        self.memory = memory
        self.returnFreeMemory = returnFreeMemory
        self.logger = logger
    }

    package mutating func run() {
        guard let before = memory() else { return }
        unreturnableBytes = min(unreturnableBytes, before.freedBytes)
        guard before.freedBytes - unreturnableBytes >= Self.worthwhileBytes else { return }
        returnFreeMemory()
        guard let after = memory() else { return }
        unreturnableBytes = after.freedBytes
        logger.debug(
            "freed memory returned to the system",
            metadata: ["bytes": "\(max(0, before.anonymousBytes - after.anonymousBytes))"])
    }
}
