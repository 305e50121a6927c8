public import ArgumentParser
public import PassProvisioning
import Vocabulary

/// `applepay-sandbox provision`
struct ProvisionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provision",
        abstract: "Decrypt a card and check it, as Apple's broker for in-app provisioning does.",
        discussion: """
            Reads the JSON that the daemon's issuer socket returned: encryptedPassData, ephemeralPublicKey and \
            activationData. Prints 200 or, like Apple's broker, 500 'Broker Service Response exception'. After a 500 it \
            prints the reasons, which Apple's broker does not give. The exit status is 0 for 200, and 1 for 500.

            Example: applepay-sandbox provision answer.json --directory apple --network Mastercard
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Argument(help: "The JSON file; - for the standard input.", completion: .file())
    var file = "-"

    @Option(
        help: ArgumentHelp(
            "The private key of the leaf, PEM (default: provisioning-leaf.key.pem in the directory).",
            valueName: "file"), completion: .file())
    var privateKey: String?

    @Option(
        help: ArgumentHelp(
            """
            The card network, whose rules apply to the card data: \
            \(ProvisioningNetwork.allCases.map(\.rawValue).joined(separator: ", ")) \
            (default: only the rules of every network).
            """, valueName: "name"))
    var network: ProvisioningNetwork?

    @Option(
        help: ArgumentHelp("The nonce that the card data must contain (default: any).", valueName: "hex"),
        transform: Self.bytes)
    var nonce: [UInt8]?

    @Option(
        help: ArgumentHelp("The nonceSignature that the card data must contain (default: any).", valueName: "hex"),
        transform: Self.bytes)
    var nonceSignature: [UInt8]?

    func run() throws {
        let keyFile = privateKey ?? ProvisioningFiles(directory: hierarchy.directory).privateKey
        guard privateKey != nil || Files.exists(keyFile) else {
            throw SandboxError(
                "'\(hierarchy.directory)' contains no provisioning-leaf.key.pem: "
                    + "run 'applepay-sandbox provisioning-certificates' with this directory first")
        }
        let broker = try ProvisioningBroker(keyFile: keyFile)
        var expectation = ProvisioningBroker.Expectation()
        expectation.network = network
        expectation.nonce = nonce
        expectation.nonceSignature = nonceSignature
        let answer = broker.answer(to: try Files.read(file), expecting: expectation)
        try Files.write(Array(answer.text.utf8), to: "-")
        guard answer.status == 200 else { throw SandboxError("the broker refused the card, for the reasons above") }
    }

    private static func bytes(_ text: String) throws -> [UInt8] {
        guard let bytes = Hex.decode(text), !bytes.isEmpty else {
            throw ValidationError("'\(text)' is not hexadecimal, expected two digits for each byte")
        }
        return bytes
    }
}

extension ProvisioningNetwork: ExpressibleByArgument {}
