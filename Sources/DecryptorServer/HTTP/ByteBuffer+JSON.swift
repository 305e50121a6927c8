import MerchantOperations
package import NIOCore
import PaymentToken

// The response to a token lists a dozen checks. JSONEncoder needs more time for them than the signature's verification.

extension ByteBuffer {
    /// Writes a `VerificationDocument`.
    ///
    /// - Parameters:
    ///   - verification: nil where the caller declined it.
    ///   - checks: of the expected values.
    mutating func writeVerification(_ verification: TokenVerification?, _ checks: [ExpectationCheck]) {
        writeStaticString("{\"verified\":")
        writeStaticString(verification?.isVerified == true ? "true" : "false")
        writeStaticString(",\"checks\":[")
        if let verification {
            for (index, check) in verification.checks.enumerated() {
                writeCheck(check.name.rawValue, check.outcome.rawValue, check.finding, isFirst: index == 0)
            }
        } else {
            writeCheck("signature", "notChecked", "the caller declined verification", isFirst: true)
        }
        for check in checks { writeCheck(check.name, check.outcome.rawValue, check.finding, isFirst: false) }
        writeStaticString("]}")
    }

    private mutating func writeCheck(_ name: String, _ outcome: String, _ finding: String, isFirst: Bool) {
        writeStaticString(isFirst ? "{\"check\":" : ",{\"check\":")
        writeJSONString(name)
        writeStaticString(",\"outcome\":")
        writeJSONString(outcome)
        writeStaticString(",\"finding\":")
        writeJSONString(finding)
        writeStaticString("}")
    }

    /// Writes a JSON string, RFC 8259 section 7.
    package mutating func writeJSONString(_ text: String) {
        var text = text
        writeStaticString("\"")
        text.withUTF8 { bytes in
            var start = 0
            for index in bytes.indices {
                let byte = bytes[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                writeBytes(UnsafeBufferPointer(rebasing: bytes[start..<index]))
                start = index + 1
                if byte < 0x20 {
                    writeStaticString("\\u00")
                    for digit in [byte >> 4, byte & 15] {
                        writeInteger(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                    }
                } else {
                    writeStaticString("\\")
                    writeInteger(byte)
                }
            }
            writeBytes(UnsafeBufferPointer(rebasing: bytes[start...]))
        }
        writeStaticString("\"")
    }
}
