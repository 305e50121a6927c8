import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension AdminHandlers {
    /// Byte for byte as Apple gave it; hexadecimal digits, which is text.
    func domainFileBytes() async throws -> Answer {
        Answer(bytes: ByteBuffer(bytes: try await operations.domains.domainFile().bytes), mediaType: "text/plain")
    }

    func domainFile() async throws -> Answer {
        try Answer(DomainFileDocument(try await operations.domains.domainFile()))
    }

    func setDomainFile(_ call: AdminCall) async throws -> Answer {
        try Answer(DomainFileDocument(try await operations.domains.setDomainFile(call.body, for: call.request)))
    }

    func checkDomain(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(DomainCheckRequest.self)
        let report = try await operations.domains.checkDomain(try DomainName(body.domainName, named: "domainName"))
        return try Answer(DomainCheckDocument(report))
    }
}
