import Testing
import Vocabulary

@Suite("Text for people")
struct DisplayTextTests {
    private func fault(_ text: String, longest: Int = 1024) -> DisplayText.Fault? {
        do throws(DisplayText.Fault) {
            _ = try DisplayText(text, longest: longest)
            return nil
        } catch { return error }
    }

    @Test(
        "names and reasons in the world's scripts are accepted unchanged",
        arguments: [
            "Example Shop", " a ", "Müller & Söhne", "Mu\u{308}ller", "株式会社", "葛\u{E0100}城", "한국", "متجر", "नमस्ते",
            "می\u{200C}خواهم", "क\u{94D}\u{200D}ष", "👩\u{200D}💻 ☕\u{FE0F}", "a\u{A0}b", "½ ™ €",
        ])
    func accepted(text: String) throws {
        #expect(try DisplayText(text, longest: 1024).rawValue == text)
        #expect(text.printable(keepingLines: false) == text)
    }

    @Test(
        "invisible characters and those that reorder text or control a terminal are refused, and shown as a question mark"
    )
    func refused() {
        let refused: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x61C...0x61C, 0x115F...0x1160, 0x200B...0x200B, 0x200E...0x200F,
            0x2028...0x202E, 0x2060...0x2069, 0x206A...0x206F, 0x3164...0x3164, 0xE000...0xE000, 0xFDD0...0xFDD0,
            0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0xFFFF...0xFFFF, 0xE0001...0xE0001, 0xE0041...0xE0041,
            0xF0000...0xF0000, 0x10FFFF...0x10FFFF,
        ]
        for scalar in refused.joined().compactMap(Unicode.Scalar.init) {
            #expect(fault("a\(scalar)b") == .character(scalar))
            #expect("é\(scalar)é".printable(keepingLines: false) == "é?é")
        }
        #expect("a\nb\r".printable(keepingLines: true) == "a\nb?")
    }

    @Test(
        "a joiner is refused unless it is between two characters that it can join",
        arguments: ["\u{200D}é", "é\u{200C}", "a\u{200C}b", "é\u{200D}\u{200D}é", "é\u{200C} é", "\u{200D}"])
    func joiners(text: String) {
        #expect(fault(text) != nil)
    }

    @Test(
        "text of blanks only is refused", arguments: [" ", "  ", "\u{A0}", "\u{3000} \u{2003}", "\u{2800}", "\u{FE0F}"])
    func blank(text: String) {
        #expect(fault(text) == .blank)
    }

    @Test("the length limit counts bytes of UTF-8")
    func length() {
        #expect(fault("") == .length(bytes: 0, longest: 1024))
        #expect(fault("éé", longest: 4) == nil)
        #expect(fault("ééa", longest: 4) == .length(bytes: 5, longest: 4))
    }
}
