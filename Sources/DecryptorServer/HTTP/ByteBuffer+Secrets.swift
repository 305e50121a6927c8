import Glibc
package import NIOCore

extension ByteBuffer {
    /// Overwrites all memory of the buffer in place. Copies of the buffer share this memory, so they are overwritten
    /// too.
    ///
    /// The buffer's own mutating functions would copy shared memory first, and overwrite only the copy. Call this
    /// method only when the bytes are no longer needed, for example after they have been written to the socket.
    package func wipeStorage() {
        withVeryUnsafeBytes { memory in
            guard let start = memory.baseAddress else { return }
            explicit_bzero(UnsafeMutableRawPointer(mutating: start), memory.count)
        }
    }

    /// How many characters ``writeBase64(_:)`` writes for `count` bytes.
    package static func base64Length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes padded Base64 (RFC 4648 section 4) without an intermediate `String`, because a `String` cannot be
    /// overwritten.
    package mutating func writeBase64(_ bytes: UnsafeRawBufferPointer) {
        let length = Self.base64Length(of: bytes.count)
        writeWithUnsafeMutableBytes(minimumWritableBytes: length) { out in
            var written = 0
            var position = 0
            while position < bytes.count {
                let rest = bytes.count - position
                let group =
                    UInt32(bytes[position]) << 16 | (rest > 1 ? UInt32(bytes[position + 1]) << 8 : 0)
                    | (rest > 2 ? UInt32(bytes[position + 2]) : 0)
                out[written] = Self.character(group >> 18)
                out[written + 1] = Self.character(group >> 12)
                out[written + 2] = rest > 1 ? Self.character(group >> 6) : UInt8(ascii: "=")
                out[written + 3] = rest > 2 ? Self.character(group) : UInt8(ascii: "=")
                written += 4
                position += 3
            }
            return length
        }
    }

    /// The character for the low six bits.
    private static func character(_ bits: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 63)
        return switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// Writes the content of a JSON string. Only line feeds are escaped, so the text must have no other characters that
    /// JSON requires to be escaped. PEM has none.
    mutating func writeEscapingLineEnds(_ text: UnsafeRawBufferPointer) {
        for byte in text {
            if byte == UInt8(ascii: "\n") {
                writeStaticString("\\n")
            } else {
                writeInteger(byte)
            }
        }
    }
}
