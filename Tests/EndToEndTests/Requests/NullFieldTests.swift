import Foundation
import MerchantTestSupport
import Testing

/// `null` in the bodies of requests to the real daemon.
@Suite struct NullFieldTests {
    private static let merchant = "merchant.com.example.shop"

    let installation: Installation
    /// The arguments with which curl calls each server.
    private let servers: [String: [String]]
    private let publicKeyHash: String

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        let certified = try installation.serverCertificate("portal", names: ["localhost"])
        let settings = """
            portal:
              listen: 127.0.0.1:0
              tls:
                certificate: \(certified.certificate)
                private-key: \(certified.privateKey)
            provisioning:
              enabled: true

            """
        try installation.start(config: installation.write(settings, "portal.yaml"))
        try #require(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        publicKeyHash = pathSpelling(try installation.certifiedKey(Self.merchant, "first"))
        let access = try installation.ctlJSON(
            "access", "create", "nulls", "--permit", "onboard", "--permit", "merchantSession", "--merchant",
            Self.merchant)
        let token = try #require(access["token"] as? String)
        var portal: String?
        try installation.eventually("the portal listens") { [installation] in
            portal = try installation.ctlJSON("status")["portalURL"] as? String
            return portal != nil
        }
        servers = [
            "admin": ["--unix-socket", installation.adminSocket, "http://localhost"],
            "decryptor": ["--unix-socket", installation.decryptorSocket, "http://localhost"],
            "issuer": ["--unix-socket", installation.path("state/issuer.sock"), "http://localhost"],
            "portal": [
                "--cacert", installation.path("apple/root.pem"), "-H", "Authorization: Bearer \(token)",
                // The certificate is for this name.
                try #require(portal).replacing("127.0.0.1", with: "localhost"),
            ],
        ]
    }

    /// - Returns: the body of the response, and its status in a line of its own.
    private func send(_ request: NullFieldRequest, to server: String) throws -> String {
        let arguments = try #require(servers[server])
        let url = (arguments.last ?? "") + request.path
        return try Installation.run(
            [
                "curl", "-s", "-X", request.method, "-H", "Content-Type: application/json", "-d", request.body, "-w",
                "\n%{http_code}",
            ] + arguments.dropLast() + [url]
        ).output
    }

    /// The numbers of records, which a request could have changed.
    private func state() throws -> NSDictionary {
        let counted: Set = [
            "merchants", "keyPairs", "certificates", "rolls", "registrations", "awaitingDestruction", "auditRecords",
        ]
        let status = try installation.ctlJSON("status").filter { counted.contains($0.key) }
        try #require(status.count == counted.count)
        return status as NSDictionary
    }

    @Test func `null for a field that may be absent is refused by each server, and changes nothing`() throws {
        let document = try OpenAPIDocument()
        let before = try state()
        for (server, smallest) in [("admin", 30), ("decryptor", 8), ("issuer", 1), ("portal", 5)] {
            let requests = try document.nullFieldRequests(
                of: server,
                [
                    "merchantIdentifier": Self.merchant, "publicKeyHash": publicKeyHash, "rollId": "1",
                    "accessName": "nulls", "partnerInternalMerchantIdentifier": "shop-1",
                    "invitationId": "0123456789abcdef",
                ]
                // The portal answers 404 before it reads the body, because the merchant has no registration.
            ).filter { server != "portal" || !$0.path.hasPrefix("/v1/registrations/") }
            #expect(requests.count >= smallest, "\(server): \(requests.count)")
            for request in requests {
                let response = try send(request, to: server)
                #expect(response.hasSuffix("\n400"), "\(server): \(request): \(response)")
                #expect(response.contains("'\(request.field)' is null"), "\(server): \(request): \(response)")
            }
        }
        let after = try state()
        #expect(after == before)
    }
}
