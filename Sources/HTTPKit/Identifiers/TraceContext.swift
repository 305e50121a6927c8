package import Logging

/// The trace that a request belongs to, from the header `traceparent`. The client names the trace and its own span; the
/// server adds a span for its part of the work.
///
/// Source: W3C Trace Context, section 3.2.
package struct TraceContext: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits, not all zero.
    package let traceId: String
    /// The client's span: 16 lower-case hexadecimal digits, not all zero.
    package let parentId: String
    /// The server's span, generated for this request.
    package let spanId: String
    /// Two hexadecimal digits. The lowest bit says whether the client records the trace.
    package let flags: String

    /// - Returns: nil if the value violates the format. The server then ignores the header, as the standard requires.
    package init?(traceparent value: String, spanId: String = RequestId.make()) {
        let bytes = Array(value.utf8.prefix(Self.longestValue + 1))
        guard bytes.count >= Self.length, bytes.count <= Self.longestValue,
            bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash
        else { return nil }
        let (version, trace, parent, flags) = (bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55])
        guard [version, trace, parent, flags].allSatisfy({ $0.allSatisfy(Self.isDigit) }),
            !version.elementsEqual("ff".utf8), trace.contains(where: { $0 != Self.zero }),
            parent.contains(where: { $0 != Self.zero })
        else { return nil }
        // Version 00 has exactly these four fields. A later version may have more, after another dash.
        if bytes.count > Self.length {
            guard !version.elementsEqual("00".utf8), bytes[Self.length] == Self.dash else { return nil }
        }
        traceId = String(decoding: trace, as: UTF8.self)
        parentId = String(decoding: parent, as: UTF8.self)
        self.flags = String(decoding: flags, as: UTF8.self)
        self.spanId = spanId
    }

    /// The value of `traceparent` in the response: the client's trace with the server's span.
    package var traceparent: String { "00-\(traceId)-\(spanId)-\(flags)" }

    package var logMetadata: Logger.Metadata {
        ["traceId": "\(traceId)", "spanId": "\(spanId)", "parentSpanId": "\(parentId)"]
    }

    /// The length of a value of version 00.
    private static let length = 55
    /// Longer values of later versions are ignored.
    private static let longestValue = 256
    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
