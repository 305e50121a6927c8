/// Reads elements with one-byte tags and definite lengths in their shortest form, up to 65,535 bytes.
///
/// A failed read does not move the position and never accesses bytes outside the bounds.
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

    /// Reads exactly these bytes.
    ///
    /// - Returns: false if the next bytes are different.
    mutating func literal(_ expected: [UInt8]) -> Bool {
        guard end - position >= expected.count else { return false }
        for offset in expected.indices where bytes[position + offset] != expected[offset] { return false }
        position += expected.count
        return true
    }

    /// Reads an element with this tag.
    ///
    /// - Returns: the position of its contents; nil if the next element has another tag.
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

    /// Reads an element with this tag.
    ///
    /// - Returns: its position, header included; nil if the next element has another tag.
    mutating func element(_ tag: UInt8) -> Range<Int>? {
        let start = position
        guard contents(tag) != nil else { return nil }
        return start..<position
    }

    /// Reads an element with this tag.
    ///
    /// - Returns: a reader of its contents; nil if the next element has another tag.
    mutating func enter(_ tag: UInt8) -> DERReader? {
        contents(tag).map { DERReader(bytes, $0) }
    }
}
