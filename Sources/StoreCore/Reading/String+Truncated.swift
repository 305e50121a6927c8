extension String {
    /// The text, truncated after the last character that fits into `maximum` bytes of UTF-8.
    package func truncated(toBytes maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var text = self[...]
        while text.utf8.count > maximum { text = text.dropLast() }
        return String(text)
    }
}
