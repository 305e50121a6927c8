import CLibCrypto
import Crypto
import MerchantCore
import Secrets
import Vocabulary

/// Writes a private key as PKCS#8 in PEM (RFC 5958, RFC 7468 section 10), in memory that is wiped afterwards.
enum PrivateKeyPEM {
    private static let begin = Array("-----BEGIN PRIVATE KEY-----\n".utf8)
    private static let end = Array("-----END PRIVATE KEY-----\n".utf8)
    /// 48 bytes are 64 Base64 characters, the line length of RFC 7468 section 2.
    private static let bytesPerLine = 48

    static func encode(_ key: borrowing PrivateKeyBytes) throws -> SecretBytes {
        let der = try privateKeyInfo(key)
        return der.withUnsafeBytes { der in
            let lines = (der.count + bytesPerLine - 1) / bytesPerLine
            let characters = (der.count + 2) / 3 * 4
            return SecretBytes(count: begin.count + characters + lines + end.count) { memory in
                memory.copyBytes(from: begin)
                var offset = begin.count
                for start in stride(from: 0, to: der.count, by: bytesPerLine) {
                    let line = UnsafeRawBufferPointer(rebasing: der[start..<min(start + bytesPerLine, der.count)])
                    offset += encode(line: line, to: UnsafeMutableRawBufferPointer(rebasing: memory[offset...]))
                }
                UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyBytes(from: end)
            }
        }
    }

    /// - Returns: the number of bytes written, including the line end.
    private static func encode(line: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) -> Int {
        let written = EVP_EncodeBlock(
            memory.assumingMemoryBound(to: UInt8.self).baseAddress,
            line.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(line.count))
        // EVP_EncodeBlock writes a terminating zero, which the line end replaces.
        memory[Int(written)] = UInt8(ascii: "\n")
        return Int(written) + 1
    }

    /// The key as `PrivateKeyInfo` (PKCS#8) in DER.
    private static func privateKeyInfo(_ key: borrowing PrivateKeyBytes) throws -> SecretBytes {
        switch key.algorithm {
        case .ecV1:
            let publicKey = try key.bytes.withUnsafeBytes {
                try P256.KeyAgreement.PrivateKey(rawRepresentation: $0).publicKey
            }
            return join(ecBeforeScalar, key.bytes, ecBeforePoint + publicKey.x963Representation)
        case .rsaV1:
            let fields = rsaBeforeKey + header(0x04, key.bytes.count)
            return join(header(0x30, fields.count + key.bytes.count) + fields, key.bytes, [])
        }
    }

    private static func join(_ before: [UInt8], _ secret: borrowing SecretBytes, _ after: [UInt8]) -> SecretBytes {
        secret.withUnsafeBytes { secret in
            SecretBytes(count: before.count + secret.count + after.count) { memory in
                memory.copyBytes(from: before)
                UnsafeMutableRawBufferPointer(rebasing: memory[before.count...]).copyBytes(from: secret)
                UnsafeMutableRawBufferPointer(rebasing: memory[(before.count + secret.count)...]).copyBytes(from: after)
            }
        }
    }

    /// The DER of a P-256 private key before its scalar. The whole PKCS#8 has 138 bytes:
    ///
    ///     SEQUENCE {
    ///       0, { id-ecPublicKey, prime256v1 },
    ///       OCTET STRING { SEQUENCE { 1, OCTET STRING (the scalar), [1] { BIT STRING (the public point) } } }
    ///     }
    ///
    /// Source: RFC 5915 section 3.
    private static let ecBeforeScalar: [UInt8] = [
        0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]
    /// The DER between the scalar and the public point.
    private static let ecBeforePoint: [UInt8] = [0xa1, 0x44, 0x03, 0x42, 0x00]
    /// The DER of the fields before the key: 0, { rsaEncryption, NULL }.
    private static let rsaBeforeKey: [UInt8] = [
        0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// Tag and length of a DER element of 256 to 65,535 bytes. An RSA-2048 private key always has such a length.
    private static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        precondition((256...65_535).contains(count), "DER encodes only these lengths in exactly two bytes")
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xff)]
    }
}
