package import Vocabulary

extension DisplayText {
    /// - Throws: `malformed`. The error names the field, the fault in its text and what was expected.
    package init(_ text: String, named field: String, longest: Int) throws(MerchantError) {
        do throws(Fault) {
            try self.init(text, longest: longest)
        } catch {
            throw MerchantError(.malformed, "'\(field)' \(error)")
        }
    }
}
