import MerchantOperations
package import NIOCore
import PaymentToken
import Vocabulary
import WireAPI

// These functions are faster than JSONEncoder. The response to a token lists a dozen checks, and JSONEncoder would take
// longer to encode them than the daemon takes to verify the token's signature. The response for a key that is not in
// the cache is encoded faster than the key is read from the database. JSONEncoder would take longer than that read.

extension ByteBuffer {
    /// Writes a `VerificationDocument`.
    ///
    /// - Parameters:
    ///   - verification: the result of the verification; nil if the caller declined verification.
    ///   - expectationChecks: the results of the comparisons with the values that the caller expects.
    mutating func writeVerification(_ verification: TokenVerification?, expectationChecks: [ExpectationCheck]) {
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
        for check in expectationChecks { writeCheck(check.name, check.outcome.rawValue, check.finding, isFirst: false) }
        writeStaticString("]}")
    }

    /// Writes a `ResolvedKeyDocument` up to its last member, without the closing brace. The caller can add members.
    /// The private key is not written.
    mutating func writeMembers(of key: ResolvedKeyDocument) {
        writeStaticString("{\"algorithm\":")
        writeJSONString(key.algorithm.text)
        writeStaticString(",\"certificate\":")
        writeJSONString(key.certificate)
        writeStaticString(",\"merchantIdentifier\":")
        writeJSONString(key.merchantIdentifier.text)
        writeStaticString(",\"merchantIdentifierHash\":")
        writeJSONString(key.merchantIdentifierHash.text)
        writeStaticString(",\"notAfter\":")
        writeJSONString(key.notAfter.text)
        writeStaticString(",\"notBefore\":")
        writeJSONString(key.notBefore.text)
        writeStaticString(",\"publicKeyHash\":")
        writeJSONString(key.publicKeyHash.text)
        writeStaticString(",\"state\":")
        writeJSONString(key.state.text)
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
                if byte == UInt8(ascii: "\n") {
                    writeStaticString("\\n")
                } else if byte < 0x20 {
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
