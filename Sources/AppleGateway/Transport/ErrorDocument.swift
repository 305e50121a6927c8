import FoundationEssentials

/// The body of an error response. Apple's references specify it only for the Merchant Token Management API.
///
/// The gateway sends `statusMessage`, and `statusCode` as a string. Apple's newer APIs send `errorMessage`, and
/// `statusCode` as an integer.
struct ErrorDocument: Decodable {
    let statusMessage: String?
    let errorMessage: String?
    let statusCode: Code?
    let subStatusCode: Code?

    /// A number that the JSON contains as a number or as a string.
    struct Code: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try (try? container.decode(String.self)) ?? String(container.decode(Int.self))
        }
    }

    var message: String? { statusMessage ?? errorMessage }
}
