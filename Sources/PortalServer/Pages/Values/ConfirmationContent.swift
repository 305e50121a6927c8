/// A page that asks for a confirmation before a change is made.
struct ConfirmationContent {
    struct Fact {
        let label: String
        let value: String
    }

    struct Field {
        let name: String
        let value: String
    }

    let heading: String
    let facts: [Fact]
    let paragraphs: [String]
    let path: String
    /// The hidden fields of the form.
    let fields: [Field]
    let isDangerous: Bool
    let button: String
    let cancelPath: String
    let cancel: String
}
