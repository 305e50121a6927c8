/// Reads the outline of DER or BER (X.690): the tags and contents of elements, without their meaning. Never reads
/// outside of the given bytes, and follows no nesting by itself.
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

    /// The elements directly inside of the outermost element, or the elements that follow one another.
    ///
    /// - Parameter isWhole: whether the bytes are one element, whose inner elements are returned.
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
        // The indefinite form of BER: the content extends to an end that only a complete parser finds.
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
        // A file that was cut is still recognized by its beginning.
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return Element(tag: tag, content: content)
    }
}
