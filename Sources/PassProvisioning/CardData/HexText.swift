import Vocabulary

/// A value that must be hexadecimal, with the faults of its text.
struct HexText: Sendable {
    enum Fault: Sendable, Hashable {
        case notHexadecimal(characters: Int)
        case base64
        case hexTwice
        /// - Parameters:
        ///   - bytes: the length that was found.
        ///   - original: the length of the original bytes; nil if they are lost.
        case textDecoded(bytes: Int, original: Int?)
        case length(bytes: Int)

        fileprivate var isLength: Bool {
            if case .length = self { return true }
            return false
        }
    }

    /// The bytes after all repairs; nil if the bytes cannot be determined.
    private(set) var bytes: [UInt8]?
    /// The faults in the order in which a receiver detects them: the outermost encoding first.
    private(set) var faults: [Fault] = []

    /// - Parameter permitted: the permitted number of bytes.
    init(_ text: String, permitted: ClosedRange<Int>) {
        if let decoded = Hex.decode(text) {
            read(decoded, permitted)
            return
        }
        if let decoded = Base64.decode(text) {
            faults = [.base64]
            read([UInt8](decoded), permitted)
        }
        // Many texts that are not hexadecimal are valid Base64 by chance. Then the length of the bytes is wrong, and
        // the Base64 is not reported.
        guard faults.isEmpty || faults.contains(where: \.isLength) else { return }
        bytes = nil
        faults = [.notHexadecimal(characters: text.count)]
    }

    private mutating func read(_ decoded: [UInt8], _ permitted: ClosedRange<Int>) {
        var value = decoded
        if Self.canBeText(value, permitted), let inner = Self.innerHex(value) {
            faults.append(.hexTwice)
            value = inner
        }
        if Self.canBeText(value, permitted), let decoding = TextDecoding(value) {
            faults.append(.textDecoded(bytes: value.count, original: decoding.original?.count))
            guard let original = decoding.original else { return }
            value = original
        }
        if !permitted.contains(value.count) { faults.append(.length(bytes: value.count)) }
        bytes = value
    }

    /// Whether bytes that are valid as a text were probably meant as one. A few random bytes of a permitted length can
    /// be a text by chance, but 32 bytes cannot.
    private static func canBeText(_ bytes: [UInt8], _ permitted: ClosedRange<Int>) -> Bool {
        bytes.count >= 32 || !permitted.contains(bytes.count)
    }

    private static func innerHex(_ bytes: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return Hex.decode(text)
    }
}
