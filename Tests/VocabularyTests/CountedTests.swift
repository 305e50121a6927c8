import Testing
import Vocabulary

/// Numbers with a noun in the singular or the plural.
@Suite struct CountedTests {
    @Test(arguments: [(0, "0 keys"), (1, "1 key"), (2, "2 keys"), (11, "11 keys"), (21, "21 keys"), (-1, "-1 keys")])
    func `only the number 1 has the singular`(number: Int, expected: String) {
        #expect(number.counted("key") == expected)
    }

    @Test func `the plural can be given, with the verb`() {
        #expect(
            [0, 1, 2].map { $0.counted("entry is", "entries are") } == ["0 entries are", "1 entry is", "2 entries are"])
        #expect(Int64(1).counted("byte") == "1 byte" && UInt64(3).counted("byte") == "3 bytes")
    }
}
