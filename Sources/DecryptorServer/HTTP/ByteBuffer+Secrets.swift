import Glibc
package import NIOCore

extension ByteBuffer {
    /// Overwrites all memory of the buffer in place, also that of its copies.
    ///
    /// A buffer's own mutating operations would copy shared memory first and overwrite the copy. Call it when the bytes
    /// are not read any more: after their write has completed.
    package func wipeStorage() {
        withVeryUnsafeBytes { memory in
            guard let start = memory.baseAddress else { return }
            explicit_bzero(UnsafeMutableRawPointer(mutating: start), memory.count)
        }
    }

    /// How many characters ``writeBase64(_:)`` writes for so many bytes.
    package static func base64Length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes Base64, RFC 4648 section 4, padded, without an intermediate `String`, which could not be wiped.
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

    /// Writes text inside a JSON string, of which only line ends must be escaped, as in PEM.
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
