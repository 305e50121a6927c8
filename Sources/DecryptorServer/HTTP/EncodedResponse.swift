package import HTTPKit
package import NIOCore
package import NIOHTTP1

/// One response, encoded: status line, header fields and body in one buffer. A body that all responses share has its
/// own buffer.
///
/// The response has no header field `Date`: client and server run on the same machine and have the same clock. Without
/// `Date`, a cache can keep a response in the form in which it is sent.
///
/// A class, because a response passes through many functions on its way to the connection.
package final class EncodedResponse: Sendable {
    package let status: Int
    /// The response in the form for a connection that stays open, without a body that all responses share.
    private let bytes: ByteBuffer
    /// The body, if all responses share one copy of it in memory; otherwise nil.
    private let sharedBodyBytes: ByteBuffer?
    /// The length in bytes of the head, up to and including the empty line.
    private let headLength: Int
    /// Whether the response's memory must be overwritten after the response was sent.
    package let holdsSecret: Bool
    /// Whether the response has the header field `X-Request-Id`.
    private let hasRequestId: Bool

    /// How many bytes are reserved for the head. The head is written after the body, because it contains the body's
    /// length. The longest head has an `X-Request-Id` of a client (``RequestIdentifiers/longestRequestId``), and less
    /// than 300 bytes of other content.
    private static let headCapacity = 512

    /// - Parameters:
    ///   - fields: the header fields other than `Content-Length` and `Cache-Control`.
    ///   - bodyCapacity: at least the number of bytes that `body` writes. If the buffer had to grow, a copy of a secret
    ///     would remain in freed memory.
    package init(
        _ status: HTTPResponseStatus, fields: [(name: String, value: String)] = [("Content-Type", "application/json")],
        bodyCapacity: Int, holdsSecret: Bool = false,
        body: (inout ByteBuffer) throws -> Void
    ) rethrows {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.headCapacity + bodyCapacity)
        buffer.moveWriterIndex(to: Self.headCapacity)
        buffer.moveReaderIndex(to: Self.headCapacity)
        try body(&buffer)
        let head = Self.head(status, fields, bodyLength: buffer.readableBytes, holdsSecret: holdsSecret)
        headLength = head.utf8.count
        precondition(headLength <= Self.headCapacity, "a head contains only the daemon's own short texts")
        buffer.setString(head, at: Self.headCapacity - headLength)
        buffer.moveReaderIndex(to: Self.headCapacity - headLength)
        bytes = buffer
        sharedBodyBytes = nil
        self.status = Int(status.code)
        self.holdsSecret = holdsSecret
        hasRequestId = fields.contains { $0.name == "X-Request-Id" }
    }

    /// A response with status 200 whose body is large and always the same. All responses share one copy of the body in
    /// memory, even while many clients have not read their responses yet.
    package init(sharing body: ByteBuffer, mediaType: String) {
        let head = Self.head(
            .ok, [("Content-Type", mediaType)], bodyLength: body.readableBytes, holdsSecret: false)
        bytes = ByteBuffer(string: head)
        headLength = head.utf8.count
        sharedBodyBytes = body
        status = Int(HTTPResponseStatus.ok.code)
        holdsSecret = false
        hasRequestId = false
    }

    private static func head(
        _ status: HTTPResponseStatus, _ fields: [(name: String, value: String)], bodyLength: Int, holdsSecret: Bool
    ) -> String {
        var head = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(bodyLength)\r\n"
        if holdsSecret { head += "Cache-Control: no-store\r\n" }
        return head + "\r\n"
    }

    /// The interim response to `Expect: 100-continue`.
    static let `continue` = EncodedResponse(interim: "HTTP/1.1 100 Continue\r\n\r\n")

    private init(interim: String) {
        bytes = ByteBuffer(string: interim)
        sharedBodyBytes = nil
        headLength = bytes.readableBytes
        status = 100
        holdsSecret = false
        hasRequestId = false
    }

    private init(compacting other: EncodedResponse) {
        bytes = ByteBuffer(bytes: other.bytes.readableBytesView)
        sharedBodyBytes = other.sharedBodyBytes
        headLength = other.headLength
        status = other.status
        holdsSecret = other.holdsSecret
        hasRequestId = other.hasRequestId
    }

    /// A copy that uses no more memory than the response needs, for a cache.
    package var compacted: EncodedResponse { EncodedResponse(compacting: self) }

    /// How much memory the response uses, in bytes, without a shared body.
    var footprint: Int { bytes.storageCapacity }

    /// Returns the bytes to send. If the response has a shared body, send the result of ``sharedBody(isHead:)`` after
    /// these bytes. If a parameter changes the response, this method returns a copy, and overwrites the memory of the
    /// original response if it holds a secret.
    ///
    /// - Parameters:
    ///   - isHead: whether to leave out the body, in response to `HEAD`.
    ///   - isLast: whether to add `Connection: close`.
    ///   - identifiers: the identifiers of the request; nil if it has none. The response repeats the client's
    ///     `X-Request-Id`, and has a `traceparent` with the client's trace.
    package func wireBytes(isHead: Bool, isLast: Bool, identifiers: RequestIdentifiers? = nil) -> ByteBuffer {
        guard isHead || isLast || identifiers != nil else { return bytes }
        let fields =
            (identifiers?.fields(hasRequestId: hasRequestId) ?? "") + (isLast ? "Connection: close\r\n" : "")
        guard isHead || !fields.isEmpty else { return bytes }
        let bodyLength = isHead ? 0 : bytes.readableBytes - headLength
        var buffer = ByteBufferAllocator().buffer(capacity: headLength + fields.utf8.count + bodyLength)
        // Copy the head without its empty line, and add the fields after it.
        buffer.writeBytes(bytes.readableBytesView.prefix(headLength - 2))
        buffer.writeString(fields)
        buffer.writeStaticString("\r\n")
        if !isHead { buffer.writeBytes(bytes.readableBytesView.dropFirst(headLength)) }
        wipe()
        return buffer
    }

    /// Returns the shared body, to send after ``wireBytes(isHead:isLast:identifiers:)``. The buffer uses the memory
    /// that all responses share.
    ///
    /// - Returns: nil if the response has no shared body, or must have no body because the request's method is `HEAD`.
    package func sharedBody(isHead: Bool) -> ByteBuffer? { isHead ? nil : sharedBodyBytes }

    /// Overwrites the response's memory if it holds a secret. Call this function if the response will not be sent, or
    /// if a copy is sent.
    package func wipe() { if holdsSecret { bytes.wipeStorage() } }
}
