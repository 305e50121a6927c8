import FoundationEssentials
package import HTTPTypes
package import NIOCore
package import Vocabulary

/// The response of a handler, and the values for the log line about the request.
package struct RESTResponse: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: ByteBuffer
    package var merchant: MerchantIdentifier?
    package var key: PublicKeyHash?
    /// Whether the caller requested a dry run, so that nothing was changed.
    package var isDryRun = false
    /// Whether all responses share one copy of the body in memory. The memory limit does not apply to such a body.
    package var isShared = false

    package init(bytes body: ByteBuffer, mediaType: String, status: HTTPResponse.Status = .ok) {
        self.status = status
        headers = [.contentType: mediaType]
        self.body = body
    }

    /// A response with a document in JSON. The members are sorted by name, so that equal documents are equal bytes.
    package init(_ document: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(
            bytes: ByteBuffer(bytes: try encoder.encode(document)), mediaType: "application/json", status: status)
    }

    /// A response with status 201 and the path of the created resource.
    package init(created document: some Encodable, at path: String) throws {
        try self.init(document, status: .created)
        headers[.location] = path
    }

    /// Adds the values for the log line.
    package func withLogFields(merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, dryRun: Bool = false)
        -> RESTResponse
    {
        var response = self
        response.merchant = merchant
        response.key = key
        response.isDryRun = dryRun
        return response
    }
}
