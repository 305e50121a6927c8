/// Walks over elements of DER with definite, shortest lengths and one-byte tags; nothing else is read.
///
/// Every step returns nil at the first byte that is not as expected, and reads nothing outside its bounds.
struct DERReader {
    private let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, bytes.indices) }

    private init(_ bytes: [UInt8], _ bounds: Range<Int>) {
        self.bytes = bytes
        position = bounds.lowerBound
        end = bounds.upperBound
    }

    var isAtEnd: Bool { position == end }

    /// Steps over exactly these bytes.
    mutating func literal(_ expected: [UInt8]) -> Bool {
        guard end - position >= expected.count else { return false }
        for offset in expected.indices where bytes[position + offset] != expected[offset] { return false }
        position += expected.count
        return true
    }

    /// Steps over an element of that tag.
    ///
    /// - Returns: where its content lies.
    mutating func contents(_ tag: UInt8) -> Range<Int>? {
        guard end - position >= 2, bytes[position] == tag else { return nil }
        var start = position + 2
        var count = Int(bytes[position + 1])
        switch count {
        case 0..<0x80: break
        case 0x81:
            guard end - start >= 1 else { return nil }
            count = Int(bytes[start])
            start += 1
            guard count >= 0x80 else { return nil }
        case 0x82:
            guard end - start >= 2 else { return nil }
            count = Int(bytes[start]) << 8 | Int(bytes[start + 1])
            start += 2
            guard count >= 0x100 else { return nil }
        default: return nil
        }
        guard count <= end - start else { return nil }
        position = start + count
        return start..<position
    }

    /// Steps over an element of that tag.
    ///
    /// - Returns: where it lies, header included.
    mutating func element(_ tag: UInt8) -> Range<Int>? {
        let start = position
        guard contents(tag) != nil else { return nil }
        return start..<position
    }

    /// Steps over an element of that tag.
    ///
    /// - Returns: a reader of its content.
    mutating func enter(_ tag: UInt8) -> DERReader? {
        contents(tag).map { DERReader(bytes, $0) }
    }
}
