import Testing
import WireAPI

@Suite struct AuditHeadTextTests {
    private static let hash = String(repeating: "0f", count: 32)

    @Test(arguments: [1, 1044, 999_999_999_999_999_999])
    func `an audit head that is written as text and read again is unchanged`(sequence: Int) {
        let head = AuditHeadDocument(sequence: sequence, hash: Self.hash)
        #expect(AuditHeadDocument(text: head.text) == head)
    }

    @Test(
        arguments: [
            "", ":", "1:", ":\(hash)", "0:\(hash)", "01:\(hash)", "+1:\(hash)", "1\(hash)", "1:\(hash):", "1:\(hash)0",
            "1:\(hash.dropLast())", "1:\(hash.uppercased())", "1:\(hash.dropLast())g", "1: \(hash.dropLast())",
            "1000000000000000000:\(hash)", "１:\(hash)",
        ])
    func `text that is not exactly the text of an audit head is refused`(text: String) {
        #expect(AuditHeadDocument(text: text) == nil)
    }
}
