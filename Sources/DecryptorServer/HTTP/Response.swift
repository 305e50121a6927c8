package import NIOCore
package import NIOHTTP1

/// One answer, rendered: status line, header fields and body in one buffer.
///
/// There is no `Date`: both ends of a Unix socket share the clock, and without it an answer can be kept as it is sent.
package struct Response: Sendable {
    /// The whole answer for a connection that stays open.
    private let bytes: ByteBuffer
    /// Up to and including the empty line.
    private let headLength: Int
    /// Whether the memory is to be overwritten once it was sent.
    package let holdsSecret: Bool

    /// Room left for the head before the body is written; the longest head has less than 300 bytes.
    private static let headRoom = 384

    /// - Parameters:
    ///   - fields: further header fields.
    ///   - bodyCapacity: no less than what `body` writes, so that no copy of a secret is left behind by growing.
    package init(
        _ status: HTTPResponseStatus, _ contentType: String = "application/json", fields: [(String, String)] = [],
        bodyCapacity: Int, holdsSecret: Bool = false,
        body: (inout ByteBuffer) throws -> Void
    ) rethrows {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.headRoom + bodyCapacity)
        buffer.moveWriterIndex(to: Self.headRoom)
        buffer.moveReaderIndex(to: Self.headRoom)
        try body(&buffer)
        var head = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nContent-Type: \(contentType)\r\n"
        head += "Content-Length: \(buffer.readableBytes)\r\n"
        if holdsSecret { head += "Cache-Control: no-store\r\n" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        head += "\r\n"
        headLength = head.utf8.count
        precondition(headLength <= Self.headRoom, "heads hold our own words only, and those fit")
        buffer.setString(head, at: Self.headRoom - headLength)
        buffer.moveReaderIndex(to: Self.headRoom - headLength)
        bytes = buffer
        self.holdsSecret = holdsSecret
    }

    /// The interim answer to `Expect: 100-continue`.
    static let `continue` = Response(interim: "HTTP/1.1 100 Continue\r\n\r\n")

    private init(interim: String) {
        bytes = ByteBuffer(string: interim)
        headLength = bytes.readableBytes
        holdsSecret = false
    }

    private init(compacting other: Response) {
        bytes = ByteBuffer(bytes: other.bytes.readableBytesView)
        headLength = other.headLength
        holdsSecret = other.holdsSecret
    }

    /// The same in as little memory as it takes, to be kept.
    package var compacted: Response { Response(compacting: self) }

    /// Memory held, in bytes.
    var footprint: Int { bytes.storageCapacity }

    /// What goes on the wire.
    ///
    /// - Parameters:
    ///   - isHead: the head alone, as `HEAD` asks.
    ///   - isLast: says `Connection: close`.
    package func wireBytes(isHead: Bool, isLast: Bool) -> ByteBuffer {
        guard isHead || isLast else { return bytes }
        let close = isLast ? "Connection: close\r\n" : ""
        let bodyLength = isHead ? 0 : bytes.readableBytes - headLength
        var buffer = ByteBufferAllocator().buffer(capacity: headLength + close.utf8.count + bodyLength)
        // The head without its empty line, then the line that goes between.
        buffer.writeBytes(bytes.readableBytesView.prefix(headLength - 2))
        buffer.writeString(close)
        buffer.writeStaticString("\r\n")
        if !isHead { buffer.writeBytes(bytes.readableBytesView.dropFirst(headLength)) }
        wipe()
        return buffer
    }

    /// Overwrites a secret that will not be sent from here.
    package func wipe() { if holdsSecret { bytes.wipeStorage() } }
}
