package import Vocabulary

extension DisplayText {
    /// Checks the text of the request field `field`. `longest` is the limit in bytes of UTF-8.
    ///
    /// - Throws: `malformed`, with the field's name and what is wrong with the text.
    package init(_ text: String, named field: String, longest: Int) throws(MerchantError) {
        do throws(Fault) {
            try self.init(text, longest: longest)
        } catch {
            throw MerchantError(.malformed, "'\(field)' \(error)")
        }
    }
}
