extension BinaryInteger {
    /// The number with the words that follow it, in the singular or the plural: `1 key pair`, `2 key pairs`.
    ///
    /// - Parameters:
    ///   - one: the words after the number 1. They may include the verb: `merchant has`.
    ///   - other: the words after every other number, also after 0. Default: `one` and an `s`.
    package func counted(_ one: String, _ other: String? = nil) -> String {
        "\(self) \(self == 1 ? one : other ?? one + "s")"
    }
}
