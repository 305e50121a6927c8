/// Splits DER or BER (X.690) into elements, each with its tag and content. Does not interpret the contents, does not
/// descend into nested elements, and never reads outside of the given bytes.
enum DERReader {
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>
    }

    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    /// The tag [0] of a constructed element.
    static let contextZero: UInt8 = 0xA0

    /// At most this many elements are read.
    private static let maximumElements = 16

    /// Reads a sequence of elements.
    ///
    /// - Parameter isWhole: true if the bytes are one element: returns the elements inside it. false if the bytes are
    ///   the sequence itself.
    /// - Returns: the elements up to the first one that is not valid.
    static func elements(of bytes: ArraySlice<UInt8>, isWhole: Bool = true) -> [Element] {
        var rest = bytes
        if isWhole {
            guard let outer = next(&rest) else { return [] }
            rest = outer.content
        }
        var elements: [Element] = []
        while elements.count < maximumElements, let element = next(&rest) { elements.append(element) }
        return elements
    }

    /// Removes one element from the beginning of `rest`.
    private static func next(_ rest: inout ArraySlice<UInt8>) -> Element? {
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
        // The indefinite length of BER: only a complete parser can find the end of the content, so take all remaining
        // bytes.
        if first == 0x80 {
            let content = rest
            rest = rest[rest.endIndex...]
            return Element(tag: tag, content: content)
        }
        var length = Int(first)
        if first > 0x80 {
            let count = Int(first & 0x7F)
            guard count <= 4, rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        // A truncated file is still recognized by its beginning.
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return Element(tag: tag, content: content)
    }
}
