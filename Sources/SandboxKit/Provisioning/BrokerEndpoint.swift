/// Answers devices over HTTP as Apple's broker does, with the private key that
/// `applepay-sandbox provisioning-certificates` writes.
///
/// The endpoint reads the key for each request, so that the server need not be restarted after the certificates were
/// created or replaced.
package struct BrokerEndpoint: Sendable {
    /// The path of the leaf's private key in PEM. The file need not exist yet.
    private let keyFile: String

    package init(keyFile: String) { self.keyFile = keyFile }

    func reply(to body: [UInt8]) -> GatewayReply {
        guard Files.exists(keyFile) else {
            return Self.failure(
                "the sandbox has no certificates for in-app provisioning, because '\(keyFile)' does not exist; create "
                    + "them with 'applepay-sandbox provisioning-certificates'")
        }
        do throws(SandboxError) { return try ProvisioningBroker(keyFile: keyFile).answer(to: body).reply } catch {
            return Self.failure(error.description)
        }
    }

    private static func failure(_ details: String) -> GatewayReply {
        .error(500, BrokerAnswer.refusal, details: details)
    }
}
