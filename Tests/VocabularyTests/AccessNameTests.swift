import Testing
import Vocabulary

@Suite struct AccessNameTests {
    @Test(arguments: [
        "a", "7", "shop-backend", "Portal_2.eu", "a--._", String(repeating: "x", count: AccessName.longest),
    ])
    func `every permitted character and length is accepted`(text: String) {
        #expect(AccessName(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "-a", ".a", "_a", "a b", "a/b", "a:b", "a%2Fb", "ä", "aä", "a\n",
        String(repeating: "x", count: AccessName.longest + 1),
    ])
    func `text that is not a name is refused`(text: String) {
        #expect(AccessName(text) == nil)
    }
}

@Suite struct InvitationIdentifierTests {
    @Test(arguments: ["0000000000000000", "0123456789abcdef"])
    func `16 lower-case hexadecimal digits are accepted`(text: String) {
        #expect(InvitationIdentifier(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg", "0123456789abcde ",
        "-123456789abcdef", "0123456789abcdé",
    ])
    func `other text is refused`(text: String) {
        #expect(InvitationIdentifier(text) == nil)
    }

    @Test func `random identifiers are valid and differ`() {
        let found: [InvitationIdentifier] = (0..<1000).map { _ in InvitationIdentifier.random() }
        #expect(Set(found).count == found.count)
        #expect(found.allSatisfy { InvitationIdentifier($0.text) == $0 })
    }
}
