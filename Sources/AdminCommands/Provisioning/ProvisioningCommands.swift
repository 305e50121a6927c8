import ArgumentParser

struct ProvisioningCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "provisioning", abstract: "Diagnose in-app provisioning, and encrypt card data for tests.",
        discussion: """
            The commands work without the daemon. They are for card issuers, whose servers encrypt card data for Apple \
            Wallet. In production, servers send their requests to the daemon's issuer socket.
            """,
        subcommands: [
            ProvisioningEncrypt.self, ProvisioningInspect.self, ProvisioningVerifyCertificates.self,
        ])
}
