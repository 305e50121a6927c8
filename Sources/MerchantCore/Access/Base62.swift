/// Numbers in base 62.
enum Base62 {
    /// The digits in ascending order: `0` to `9`, `A` to `Z`, `a` to `z`.
    static let digits: [UInt8] = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// The number in exactly `length` digits, with leading zeros. `length` must be large enough for the number.
    static func encode(_ number: UInt32, length: Int) -> [UInt8] {
        var rest: Int = Int(number)
        var reversed: [UInt8] = []
        for _ in 0..<length {
            reversed.append(digits[rest % digits.count])
            rest /= digits.count
        }
        return Array(reversed.reversed())
    }
}

/// The CRC-32 of ISO/IEC 3309 and ITU-T V.42, which zip and PNG use.
enum CRC32 {
    /// The generator polynomial with its bits reversed.
    private static let polynomial: UInt32 = 0xEDB8_8320

    static func checksum(of bytes: [UInt8]) -> UInt32 {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd: Bool = remainder & 1 == 1
                remainder >>= 1
                if isOdd { remainder ^= polynomial }
            }
        }
        return remainder ^ 0xFFFF_FFFF
    }
}
