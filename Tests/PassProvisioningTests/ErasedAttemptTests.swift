import Crypto
import Foundation
import Glibc
import PassProvisioning
import Secrets
import Testing

/// The ephemeral private key exists only inside the process, so the test searches the memory of this process.
@Suite struct ErasedAttemptTests {
    private static let chunk = 1 << 20

    /// A private key of which this process holds no copy outside the key object: the test keeps its bytes XORed with a mask.
    private struct MaskedScalar {
        let mask: [UInt8]
        let masked: [UInt8]
        let key: P256.KeyAgreement.PrivateKey

        init() throws {
            let scalar = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
            defer { scalar.deallocate() }
            var mask: [UInt8] = []
            var masked: [UInt8] = []
            for index in 0..<32 {
                // The first byte is below 0xFF, so the number is below the order of the curve.
                scalar[index] = .random(in: 1..<0xFF)
                mask.append(.random(in: 0...0xFF))
                masked.append(scalar[index] ^ mask[index])
            }
            defer { if let start = scalar.baseAddress { explicit_bzero(start, 32) } }
            key = try P256.KeyAgreement.PrivateKey(rawRepresentation: UnsafeRawBufferPointer(scalar))
            self.mask = mask
            self.masked = masked
        }
    }

    /// How often the scalar is in this process's writable memory, as big-endian and as little-endian bytes.
    private func occurrences(_ mask: [UInt8], _ masked: [UInt8]) throws -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        let list = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd()
        let maps = String(decoding: try #require(list), as: UTF8.self)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer { buffer.deallocate() }
        var count = 0
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, words[1].hasPrefix("rw") else { continue }
            var offset = ends[0]
            while offset < ends[1] {
                let wanted = min(Self.chunk, Int(ends[1] - offset))
                let read = pread(memory, buffer.baseAddress, wanted, off_t(truncatingIfNeeded: offset))
                guard read > 0 else {
                    offset += 4096
                    continue
                }
                count += Self.count(UnsafeRawBufferPointer(rebasing: buffer[..<read]), mask, masked)
                if offset + UInt64(read) >= ends[1] { break }
                offset += UInt64(max(4096, read - 32))
            }
        }
        return count
    }

    private static func count(_ bytes: UnsafeRawBufferPointer, _ mask: [UInt8], _ masked: [UInt8]) -> Int {
        guard bytes.count >= 32 else { return 0 }
        let (first, last) = (mask[0] ^ masked[0], mask[31] ^ masked[31])
        var count = 0
        for start in 0...(bytes.count - 32) {
            if bytes[start] == first, (0..<32).allSatisfy({ bytes[start + $0] ^ mask[$0] == masked[$0] }) { count += 1 }
            if bytes[start] == last, (0..<32).allSatisfy({ bytes[start + $0] ^ mask[31 - $0] == masked[31 - $0] }) {
                count += 1
            }
        }
        return count
    }

    /// - Returns: how often the scalar was in memory before the attempt, and its mask and masked bytes.
    @inline(never)
    private func encryptOnce(
        for recipient: VerifiedProvisioningCertificates
    ) throws -> (before: Int, mask: [UInt8], masked: [UInt8]) {
        let scalar = try MaskedScalar()
        let before = try occurrences(scalar.mask, scalar.masked)
        let attempt = ProvisioningAttempt(ephemeralKey: scalar.key)
        _ = try attempt.encrypt(SecretBytes(copying: "card data".utf8), for: recipient)
        return (before, scalar.mask, scalar.masked)
    }

    @Test func `the ephemeral private key is not in memory after its attempt`() throws {
        let chain = try TestChain()
        let recipient = try ProvisioningCertificates(chain.sent()).verified(trust: chain.trust(), at: TestChain.now)
        let (before, mask, masked) = try encryptOnce(for: recipient)
        #expect(before > 0, "the search does not find a key that exists")
        #expect(try occurrences(mask, masked) == 0)
    }
}
