import Vocabulary

/// The part of a message that says whether bytes that were decoded as text can be restored.
enum TextDecodingText {
    /// - Parameter length: the length of the original bytes; nil if they are lost.
    static func original(_ length: Int?) -> String {
        guard let length else { return "and the original bytes are lost, because characters were replaced" }
        return "and had \(length.counted("byte")) before"
    }
}
