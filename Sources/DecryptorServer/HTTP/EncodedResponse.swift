package import NIOCore
package import NIOHTTP1

/// One response, encoded: status line, header fields and body in one buffer.
///
/// It has no `Date`: both ends of a Unix socket share the clock, and without it a response can be cached as it is sent.
package struct EncodedResponse: Sendable {
    package let status: Int
    /// The whole response for a connection that stays open.
    private let bytes: ByteBuffer
    /// Up to and including the empty line.
    private let headLength: Int
    /// Whether the memory must be overwritten once the response was sent.
    package let holdsSecret: Bool

    /// Bytes reserved for the head before the body is written; the longest head has less than 300.
    private static let headCapacity = 384

    /// - Parameters:
    ///   - fields: further header fields.
    ///   - bodyCapacity: no less than what `body` writes, so that no copy of a secret is left behind by growing.
    package init(
        _ status: HTTPResponseStatus, fields: [(name: String, value: String)] = [("Content-Type", "application/json")],
        bodyCapacity: Int, holdsSecret: Bool = false,
        body: (inout ByteBuffer) throws -> Void
    ) rethrows {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.headCapacity + bodyCapacity)
        buffer.moveWriterIndex(to: Self.headCapacity)
        buffer.moveReaderIndex(to: Self.headCapacity)
        try body(&buffer)
        var head = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(buffer.readableBytes)\r\n"
        if holdsSecret { head += "Cache-Control: no-store\r\n" }
        head += "\r\n"
        headLength = head.utf8.count
        precondition(headLength <= Self.headCapacity, "a head has only text of the daemon, which fits")
        buffer.setString(head, at: Self.headCapacity - headLength)
        buffer.moveReaderIndex(to: Self.headCapacity - headLength)
        bytes = buffer
        self.status = Int(status.code)
        self.holdsSecret = holdsSecret
    }

    /// The interim response to `Expect: 100-continue`.
    static let `continue` = EncodedResponse(interim: "HTTP/1.1 100 Continue\r\n\r\n")

    private init(interim: String) {
        bytes = ByteBuffer(string: interim)
        headLength = bytes.readableBytes
        status = 100
        holdsSecret = false
    }

    private init(compacting other: EncodedResponse) {
        bytes = ByteBuffer(bytes: other.bytes.readableBytesView)
        headLength = other.headLength
        status = other.status
        holdsSecret = other.holdsSecret
    }

    /// The same in no more memory than it needs, for a cache.
    package var compacted: EncodedResponse { EncodedResponse(compacting: self) }

    /// Memory held, in bytes.
    var footprint: Int { bytes.storageCapacity }

    /// The bytes for the wire.
    ///
    /// - Parameters:
    ///   - isHead: without the body, in response to `HEAD`.
    ///   - isLast: with `Connection: close`.
    package func wireBytes(isHead: Bool, isLast: Bool) -> ByteBuffer {
        guard isHead || isLast else { return bytes }
        let close = isLast ? "Connection: close\r\n" : ""
        let bodyLength = isHead ? 0 : bytes.readableBytes - headLength
        var buffer = ByteBufferAllocator().buffer(capacity: headLength + close.utf8.count + bodyLength)
        // The head without its empty line, then the added field.
        buffer.writeBytes(bytes.readableBytesView.prefix(headLength - 2))
        buffer.writeString(close)
        buffer.writeStaticString("\r\n")
        if !isHead { buffer.writeBytes(bytes.readableBytesView.dropFirst(headLength)) }
        wipe()
        return buffer
    }

    /// Overwrites a secret that will not be sent from this buffer.
    package func wipe() { if holdsSecret { bytes.wipeStorage() } }
}
