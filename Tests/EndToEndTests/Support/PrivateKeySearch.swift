import Crypto
import Foundation
import Glibc

/// Searches the memory of a process for the private keys of known public keys on the curve P-256.
///
/// The private key itself is not known, so this search computes the public key of everything that may be a private key:
/// of each 32 bytes, at steps of 8 bytes, that look random. Libraries keep the number in either byte order.
struct PrivateKeySearch {
    private static let chunk = 1 << 20
    private static let step = 8

    /// 32 bytes of memory.
    private struct Window: Hashable {
        let words: SIMD4<UInt64>

        /// Whether the bytes may be random. This is false for fewer than 2 of 10,000 random windows.
        var looksRandom: Bool {
            // This excludes pointers, small numbers and text, which fill most of the memory.
            let bytes = unsafeBitCast(words, to: SIMD32<UInt8>.self)
            var (zeros, high) = (0, 0)
            var seen = SIMD4<UInt64>()
            for index in 0..<32 {
                let byte = bytes[index]
                if byte == 0 { zeros += 1 }
                if byte >= 0x80 { high += 1 }
                seen[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
            }
            guard zeros <= 3, high >= 6 else { return false }
            return (0..<4).reduce(0) { $0 + seen[$1].nonzeroBitCount } >= 24
        }

        var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }
    }

    /// The public keys, as x and y coordinate, and their names in findings.
    private let names: [Data: String]

    /// - Parameter publicKeys: the uncompressed points (65 bytes) with their names in findings.
    init(of publicKeys: [String: Data]) {
        names = Dictionary(publicKeys.map { ($0.value.dropFirst(), $0.key) }, uniquingKeysWith: { $1 })
    }

    /// - Parameter range: the addresses to search; nil for all memory that the process can write.
    /// - Returns: the names of the public keys whose private keys are in the memory.
    func findings(inMemoryOf process: Int32, within range: Range<UInt64>? = nil) throws -> [String] {
        let memory = try ProcessMemory(of: process)
        var candidates: Set<Window> = []
        for mapping in try memory.mappings() where mapping.permissions.hasPrefix("rw") {
            let searched = (mapping.start..<mapping.end).clamped(to: range ?? 0..<UInt64.max)
            if !searched.isEmpty { Self.collect(&candidates, from: memory.descriptor, searched) }
        }
        return candidates.flatMap { candidate in
            [candidate.bytes, candidate.bytes.reversed()].compactMap { number in
                // Fails if the number is not less than the order of the curve.
                let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: number)
                return key.flatMap { names[$0.publicKey.rawRepresentation] }
            }
        }
    }

    /// Reads in chunks. Each begins with the last 24 bytes of the one before, so that a key on the border is found too.
    private static func collect(_ candidates: inout Set<Window>, from memory: Int32, _ range: Range<UInt64>) {
        var buffer = [UInt8](repeating: 0, count: chunk)
        var offset = range.lowerBound
        let size = MemoryLayout<SIMD4<UInt64>>.size
        while range.upperBound - offset >= UInt64(size) {
            let wanted = min(chunk, Int(range.upperBound - offset))
            let count = pread(memory, &buffer, wanted, off_t(truncatingIfNeeded: offset))
            guard count >= size else {
                // The mapping has no page here.
                offset += 4096
                guard offset < range.upperBound else { return }
                continue
            }
            buffer.withUnsafeBytes { bytes in
                for start in stride(from: 0, through: count - size, by: step) {
                    let first = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                    // Most words of a process are small numbers and pointers.
                    guard first >> 48 != 0 else { continue }
                    let window = Window(words: bytes.loadUnaligned(fromByteOffset: start, as: SIMD4<UInt64>.self))
                    if window.looksRandom { candidates.insert(window) }
                }
            }
            offset += UInt64(count - size + step)
        }
    }
}
