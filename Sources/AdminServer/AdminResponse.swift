import FoundationEssentials
import HTTPTypes
import MerchantCore
import NIOCore
import Vocabulary

/// The response of a handler, and the values for the log line about the request.
struct AdminResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: ByteBuffer
    var merchant: MerchantIdentifier?
    var key: PublicKeyHash?
    /// Whether the caller requested a dry run, so that nothing was changed.
    var isDryRun = false
    /// Whether all responses share one copy of the body in memory. Such a body does not count against the memory limit.
    var isShared = false

    init(bytes body: ByteBuffer, mediaType: String, status: HTTPResponse.Status = .ok) {
        self.status = status
        headers = [.contentType: mediaType]
        self.body = body
    }

    /// A response with a document in JSON. The members are sorted by name, so that equal documents are equal bytes.
    init(_ document: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(
            bytes: ByteBuffer(bytes: try encoder.encode(document)), mediaType: "application/json", status: status)
    }

    /// A response with status 201 and the path of the created resource.
    init(created document: some Encodable, at path: String) throws {
        try self.init(document, status: .created)
        headers[.location] = path
    }

    /// Adds the values for the log line.
    func withLogFields(merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, dryRun: Bool = false)
        -> AdminResponse
    {
        var response = self
        response.merchant = merchant
        response.key = key
        response.isDryRun = dryRun
        return response
    }
}
