import MerchantTestSupport

extension SeededGenerator {
    /// Returns a copy of the bytes with one to three random changes: flipped bits, BER lengths and tags, removed,
    /// repeated and inserted bytes, and bytes of another input.
    mutating func mutated(_ bytes: [UInt8], splicing other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            let index = Int.random(in: 0...max(0, bytes.count - 1), using: &self)
            let length = min(bytes.count - index, Int.random(in: 1...16, using: &self))
            guard length > 0 else { return other }
            switch Int.random(in: 0..<8, using: &self) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1:
                bytes[index] = [0x00, 0x01, 0x30, 0x31, 0x7F, 0x80, 0x81, 0xA0, 0xFF].randomElement(using: &self) ?? 0
            case 2: bytes[index] = UInt8.random(in: .min ... .max, using: &self)
            case 3: bytes.removeSubrange(index..<index + length)
            case 4: bytes.insert(contentsOf: bytes[index..<index + length], at: index)
            case 5: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: index)
            case 6: bytes.removeSubrange(index...)
            default:
                let end = min(other.count, index + length)
                if index < end { bytes.replaceSubrange(index..<index + length, with: other[index..<end]) }
            }
        }
        return bytes
    }
}
