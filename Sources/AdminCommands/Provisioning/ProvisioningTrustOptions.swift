public import ArgumentParser
import FoundationEssentials
public import PassProvisioning
import Vocabulary
import WireAPI

/// The options that say which certificates for card data encryption are trusted.
struct ProvisioningTrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Accept certificates of this environment of Apple: production or sandbox. Default: production.",
            valueName: "environment"))
    var environment = ProvisioningTrust.Environment.production

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "Trust this root certificate, PEM or DER; may be repeated. Default: Apple Root CA - G3, built in.",
            valueName: "file"), completion: .file())
    var rootFiles: [String] = []

    @Flag(help: "Do not check the validity periods of the certificates.")
    var ignoreValidity = false

    @Option(
        help: ArgumentHelp(
            "Check the validity periods, and the expiration date of a card, at this time: \(PastTime.forms). Default: now.",
            valueName: "time"),
        transform: PastTime.parse)
    var at: Timestamp?

    var time: Date { at?.date ?? Date() }

    /// - Throws: ``CommandFailure`` if a root can't be read or is not a root certificate.
    func trust() throws(CommandFailure) -> ProvisioningTrust {
        let roots = try roots()
        let validityPeriod: ProvisioningTrust.ValidityPeriod = ignoreValidity ? .ignored : .checked
        do {
            guard !roots.isEmpty else {
                return try ProvisioningTrust(environment: environment, validityPeriod: validityPeriod)
            }
            return try ProvisioningTrust(roots: roots, environment: environment, validityPeriod: validityPeriod)
        } catch { throw CommandFailure(error) }
    }

    /// The root certificates of `--root` in DER: the first certificate of each file.
    private func roots() throws(CommandFailure) -> [Data] {
        var roots: [Data] = []
        for path in rootFiles {
            let file = try InputFile(path).read(sizeLimit: ProvisioningCertificateFile.sizeLimit)
            roots.append(PEM.firstCertificate(in: file) ?? file)
        }
        return roots
    }
}

extension ProvisioningTrust.Environment: ExpressibleByArgument {}
