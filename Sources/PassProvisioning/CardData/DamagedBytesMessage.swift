import Vocabulary

/// The end of a message about bytes that a program damaged when it decoded them as text. This end says whether the
/// original bytes can be recovered.
enum DamagedBytesMessage {
    /// - Parameter length: the length of the original bytes; nil if they cannot be recovered.
    static func original(_ length: Int?) -> String {
        guard let length else { return "and the original bytes are lost, because characters were replaced" }
        return "and had \(length.counted("byte")) before"
    }
}
