import Secrets
import Testing

@Suite struct SecretBytesTests {
    @Test func `secret bytes can be read inside the closure`() {
        let secret = SecretBytes(copying: [1, 2, 3])
        #expect(secret.count == 3)
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
    }

    @Test func `an error of the fill closure is rethrown`() {
        struct FillError: Error {}
        #expect(throws: FillError.self) {
            let secret = try SecretBytes(count: 4) { buffer in
                buffer.copyBytes(from: [1, 2, 3, 4])
                throw FillError()
            }
            #expect(secret.count == 0)
        }
    }

    @Test func `a wiped array contains only zeros`() {
        var bytes: [UInt8] = [1, 2, 3]
        Wipe.bytes(&bytes)
        #expect(bytes == [0, 0, 0])
    }

    @Test(
        arguments: [([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1], [1, 2], false), ([], [], true)]
            as [([UInt8], [UInt8], Bool)])
    func `constant-time equality gives the same result as ==`(left: [UInt8], right: [UInt8], equal: Bool) {
        #expect(ConstantTime.areEqual(left, right) == equal)
    }
}
