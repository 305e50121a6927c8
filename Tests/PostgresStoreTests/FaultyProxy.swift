import Foundation
import Glibc
import MerchantTestSupport
import Synchronization

/// Forwards connections to a PostgreSQL server, and can cut one of them during a commit, or stop answering.
final class FaultyProxy: Sendable {
    enum Cut: Sendable {
        /// The server never gets the statement COMMIT.
        case beforeCommit
        /// The server commits, but its response is lost.
        case afterCommit
    }

    let scratch: Scratch
    private let listener: Int32
    private let server: String
    private let cut = Mutex<Cut?>(nil)
    private let refusesConnections = Atomic(false)
    private let refusesAfterCut = Atomic(false)
    private let cuts = Atomic(0)
    /// The connections that get no answer; nil if new connections are forwarded.
    private let ignored = Mutex<[Int32]?>(nil)

    init(to server: PostgresServer) throws {
        scratch = try Scratch()
        self.server = "\(server.directory)/.s.PGSQL.5432"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isListening = withSocketAddress(scratch.path(".s.PGSQL.5432")) { bind(listener, $0, $1) == 0 }
        guard isListening, listen(listener, 16) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                forward(client)
            }
        }
    }

    /// Ends the thread that accepts connections, and closes the connections that got no answer.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        closeIgnored()
    }

    /// Cuts the next connection that commits. If `permanently`, also refuses all later connections,
    /// until ``acceptConnections()``.
    func cutNextCommit(_ kind: Cut, permanently: Bool = false) {
        cut.withLock { $0 = kind }
        refusesAfterCut.store(permanently, ordering: .sequentiallyConsistent)
    }

    /// How many connections were cut.
    var cutConnections: Int { cuts.load(ordering: .sequentiallyConsistent) }

    /// Does not answer on new connections, as if the network dropped all packets.
    func ignoreConnections() { ignored.withLock { $0 = [] } }

    /// How many open connections got no answer.
    var ignoredConnections: Int { ignored.withLock { $0?.count ?? 0 } }

    func acceptConnections() {
        refusesConnections.store(false, ordering: .sequentiallyConsistent)
        closeIgnored()
    }

    private func closeIgnored() {
        ignored.withLock { ignored in
            ignored?.forEach { _ = Glibc.close($0) }
            ignored = nil
        }
    }

    private func forward(_ client: Int32) {
        guard ignored.withLock({ $0?.append(client) }) == nil else { return }
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withSocketAddress(server) { connect(upstream, $0, $1) == 0 }
        guard isConnected, !refusesConnections.load(ordering: .sequentiallyConsistent) else {
            Glibc.close(client)
            Glibc.close(upstream)
            return
        }
        let connection = Forwarded(client: client, upstream: upstream)
        Thread.detachNewThread {
            var commits = CommitDetector()
            connection.copy(from: client, to: upstream) { chunk in
                guard commits.isCommit(chunk) else { return true }
                let kind = self.cut.withLock { cut in
                    defer { cut = nil }
                    return cut
                }
                guard let kind else { return true }
                self.cuts.add(1, ordering: .sequentiallyConsistent)
                if self.refusesAfterCut.load(ordering: .sequentiallyConsistent) {
                    self.refusesConnections.store(true, ordering: .sequentiallyConsistent)
                }
                if kind == .beforeCommit { return false }
                connection.losesResponse.store(true, ordering: .sequentiallyConsistent)
                return true
            }
        }
        Thread.detachNewThread {
            connection.copy(from: upstream, to: client) { _ in
                !connection.losesResponse.load(ordering: .sequentiallyConsistent)
            }
        }
    }
}

/// Finds the messages of one connection that commit: the message Query with the text COMMIT, and the message Bind with
/// the name of the prepared statement COMMIT.
private struct CommitDetector {
    private static let text = Array("COMMIT\0".utf8)
    /// The name of the prepared statement COMMIT, with a zero byte before and after it, as in the message Bind.
    private var preparedName: [UInt8]?

    mutating func isCommit(_ chunk: [UInt8]) -> Bool {
        if let preparedName, chunk.firstRange(of: preparedName) != nil { return true }
        guard let range = chunk.firstRange(of: Self.text) else { return false }
        // The message Parse has the name before the text, and a zero byte between them.
        guard chunk[range.lowerBound - 1] == 0 else { return true }
        let name = chunk[..<(range.lowerBound - 1)].reversed().prefix { $0 > 0x20 }
        preparedName = [0] + name.reversed() + [0]
        return false
    }
}

/// A connection through the ``FaultyProxy``. Its descriptors are closed with the last reference.
private final class Forwarded: Sendable {
    private let client: Int32
    private let upstream: Int32
    /// Whether the server's next response is lost.
    let losesResponse = Atomic(false)

    init(client: Int32, upstream: Int32) {
        self.client = client
        self.upstream = upstream
    }

    deinit {
        close(client)
        close(upstream)
    }

    /// Copies bytes until one side ends the connection, or until `mayPass` returns false for some bytes.
    func copy(from source: Int32, to target: Int32, mayPass: ([UInt8]) -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0, mayPass(Array(buffer[..<count])),
                send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count
            else { break }
        }
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(upstream, Int32(SHUT_RDWR))
    }
}

/// Calls `body` with the address of a Unix socket.
private func withSocketAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
