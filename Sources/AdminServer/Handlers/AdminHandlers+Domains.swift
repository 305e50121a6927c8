import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let domains: [AdminRoute] = [
        .reads("/v1/domain-file", AdminHandlers.getDomainFile),
        .changes(.put, "/v1/domain-file", logMessage: "domain file stored", AdminHandlers.setDomainFile),
        .changes(.post, "/v1/domain-checks", logMessage: "domain checked", AdminHandlers.checkDomain),
        .reads(
            "/.well-known/apple-developer-merchantid-domain-association", permit: nil,
            AdminHandlers.getDomainFileBytes),
    ]
}

extension AdminHandlers {
    /// Returns the domain verification file, with exactly the bytes that an admin stored. The media type is text,
    /// because Apple's file contains only hexadecimal digits. The route needs no permit, because the file is public:
    /// each merchant publishes it.
    func getDomainFileBytes(_ call: RESTCall) async throws -> RESTResponse {
        RESTResponse(
            bytes: ByteBuffer(bytes: try await operations.domains.domainFile().bytes), mediaType: "text/plain")
    }

    func getDomainFile(_ call: RESTCall) async throws -> RESTResponse {
        try RESTResponse(DomainFileDocument(try await operations.domains.domainFile()))
    }

    func setDomainFile(_ call: RESTCall) async throws -> RESTResponse {
        try RESTResponse(DomainFileDocument(try await operations.domains.setDomainFile(call.body, for: call.request)))
    }

    func checkDomain(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(DomainCheckRequest.self)
        let report = try await operations.domains.checkDomain(body.domainName)
        return try RESTResponse(DomainCheckDocument(report))
    }
}
