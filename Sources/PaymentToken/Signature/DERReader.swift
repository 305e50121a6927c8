/// Reads ASN.1 elements in DER, one after the other. It supports tags of one byte and contents of up to 65,535 bytes.
///
/// Every read starts at ``position`` and moves the position to the end of the bytes that were read. Reading an element
/// fails if the next element has another tag, is incomplete, or has a length that is indefinite or not in its shortest
/// form. A failed read does not move the position.
///
/// Tags are identifier octets (X.690): 02 INTEGER, 04 OCTET STRING, 06 OBJECT IDENTIFIER, 17 UTCTime, 30 SEQUENCE,
/// 31 SET, A0 and A1 the context-specific tags [0] and [1].
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

    /// Reads the bytes `expected`, which may be several elements or a part of an element.
    ///
    /// - Returns: false if the next bytes are different.
    mutating func readLiteral(_ expected: [UInt8]) -> Bool {
        guard end - position >= expected.count else { return false }
        for offset in expected.indices where bytes[position + offset] != expected[offset] { return false }
        position += expected.count
        return true
    }

    /// Reads an element with this tag, and returns the range of its contents; nil if that fails.
    mutating func readContents(_ tag: UInt8) -> Range<Int>? {
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

    /// Reads an element with this tag, and returns the range of the whole element with tag and length; nil if that
    /// fails.
    mutating func readElement(_ tag: UInt8) -> Range<Int>? {
        let start = position
        guard readContents(tag) != nil else { return nil }
        return start..<position
    }

    /// Reads an element with this tag, and returns a reader of its contents; nil if that fails.
    mutating func enter(_ tag: UInt8) -> DERReader? {
        readContents(tag).map { DERReader(bytes, $0) }
    }
}
