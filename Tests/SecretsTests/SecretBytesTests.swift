import Secrets
import Testing

@Suite struct SecretBytesTests {
    @Test func `bytes are there while the secret lives`() {
        let secret = SecretBytes(copying: [1, 2, 3])
        #expect(secret.count == 3)
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
    }

    @Test func `a filler that throws leaves nothing behind`() {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            let secret = try SecretBytes(count: 4) { buffer in
                buffer.copyBytes(from: [1, 2, 3, 4])
                throw Refused()
            }
            #expect(secret.count == 0)
        }
    }

    @Test func `a wiped array holds zeros`() {
        var bytes: [UInt8] = [1, 2, 3]
        Wipe.bytes(&bytes)
        #expect(bytes == [0, 0, 0])
    }

    @Test(
        arguments: [([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1], [1, 2], false), ([], [], true)]
            as [([UInt8], [UInt8], Bool)])
    func `equality in constant time is equality`(left: [UInt8], right: [UInt8], equal: Bool) {
        #expect(ConstantTime.areEqual(left, right) == equal)
    }
}
