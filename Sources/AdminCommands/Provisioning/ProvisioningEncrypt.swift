import ArgumentParser
import FoundationEssentials
import PassProvisioning
import StrictJSON
import Vocabulary

struct ProvisioningEncrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt card data for a test, as the daemon does on its issuer socket.",
        discussion: """
            FILE has the body of POST /v1/in-app-provisioning/requests: certificates, nonce, nonceSignature, \
            configuration, network, card and activationData. The command verifies the certificates, checks the card and \
            prints encryptedPassData, ephemeralPublicKey and activationData. It does not refuse a nonce that was used \
            before, and writes no audit record.

            With --trace, writes each intermediate value in hexadecimal, so that Apple can compare the values with its \
            own. The file reveals the card data, so the command refuses --trace outside the sandbox environment, and \
            for certificates that chain to Apple's production root. No file is overwritten.
            """,
        examples: [
            "provisioning encrypt request.json --environment sandbox --root apple/root.pem --out answer.json",
            "provisioning encrypt request.json --environment sandbox --root apple/root.pem --trace trace.txt",
        ])

    @Argument(help: "The request as JSON, or '-' for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Write the result to this file, mode 0600. Default: standard output.", valueName: "file"),
        completion: .file())
    var out = "-"

    @Option(
        help: ArgumentHelp(
            "Write each intermediate value to this file, mode 0600. Only in the sandbox environment.",
            valueName: "file"), completion: .file())
    var trace: String?

    @OptionGroup var trustOptions: ProvisioningTrustOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard trace == nil || trustOptions.environment == .sandbox else {
            throw ValidationError("--trace needs --environment sandbox, because the trace reveals the card")
        }
        guard trace != "-" else { throw ValidationError("--trace needs the name of a file, not '-'") }
    }

    func run() throws {
        let output = OutputFile(out, overwrites: false, readers: .owner)
        let traceFile = trace.map { OutputFile($0, overwrites: false, readers: .owner) }
        try output.checkWritable()
        try traceFile?.checkWritable()
        let request = try ProvisioningRequestFile(InputFile(file).read())
        let certificates = try verifiedCertificates(of: request)
        let card = try cardData(of: request)
        global.printer.warn(card.warnings.map(\.line))
        let attempt = ProvisioningAttempt()
        let pass: EncryptedPass
        var traceText: String?
        do throws(PassEncryptionError) {
            if trace == nil {
                pass = try attempt.encrypt(card, for: certificates)
            } else {
                let (encrypted, values) = try attempt.encryptTraced(card, for: certificates)
                pass = encrypted
                traceText = values.text
            }
        } catch { throw CommandFailure(error) }
        if let traceText { try traceFile?.write(Data(traceText.utf8)) }
        try output.write(Data("\(JSONText.pretty(Self.document(pass, request.activationData)))\n".utf8))
        if let trace {
            global.printer.note(
                "wrote \(trace), which reveals the card data; delete this file when you no longer need it")
        }
    }

    private func verifiedCertificates(
        of request: ProvisioningRequestFile
    ) throws(CommandFailure) -> VerifiedProvisioningCertificates {
        let trust = try trustOptions.trust()
        let certificates: ProvisioningCertificates
        do { certificates = try ProvisioningCertificates(base64: request.certificates) } catch {
            throw CommandFailure(error)
        }
        try refuseTraceInProduction(certificates)
        do { return try certificates.verified(trust: trust, at: trustOptions.time) } catch {
            throw CommandFailure(error)
        }
    }

    /// Refuses a trace for Apple's production certificates, whatever environment and roots the options name: the card
    /// may be a real one.
    private func refuseTraceInProduction(_ certificates: ProvisioningCertificates) throws(CommandFailure) {
        guard trace != nil else { return }
        let production: ProvisioningTrust
        do { production = try ProvisioningTrust(validityPeriod: .ignored) } catch { throw CommandFailure(error) }
        guard !certificates.findings(trust: production, at: trustOptions.time).isEmpty else {
            throw CommandFailure(
                .failed,
                "--trace is refused, because the certificates are of Apple's production environment and the trace "
                    + "reveals the card; use the certificates of 'applepay-sandbox provisioning-certificates'")
        }
    }

    private func cardData(of request: ProvisioningRequestFile) throws(CommandFailure) -> CardData {
        let nonce: ProvisioningNonce
        let nonceSignature: NonceSignature
        do throws(CardDataFinding) {
            nonce = try ProvisioningNonce(hex: request.nonce)
            nonceSignature = try NonceSignature(hex: request.nonceSignature)
        } catch { throw CommandFailure(error) }
        do throws(CardDataFindings) {
            return try CardData(
                configuration: request.configuration, network: request.network, card: request.card, nonce: nonce,
                nonceSignature: nonceSignature, at: trustOptions.time)
        } catch {
            let faults = error.all.filter { !$0.isWarning }
            throw CommandFailure(.failed, faults.map(\.line).joined(separator: "\n"))
        }
    }

    private static func document(_ pass: EncryptedPass, _ activationData: String?) -> JSONValue {
        var members: [JSONObject.Member] = [
            .init(name: "encryptedPassData", value: .string(pass.encryptedPassDataBase64)),
            .init(name: "ephemeralPublicKey", value: .string(pass.ephemeralPublicKeyBase64)),
        ]
        if let activationData { members.append(.init(name: "activationData", value: .string(activationData))) }
        return .object(JSONObject(members: members))
    }
}
