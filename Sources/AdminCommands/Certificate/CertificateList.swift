import ArgumentParser
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

struct CertificateList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the certificates of a merchant or of all merchants, earliest expiry first.",
        discussion: """
            A key pair can have several certificates. --state and --ending-within select key pairs, and the list \
            contains all certificates of these key pairs. --ending-within checks only the certificate that expires \
            last.
            """,
        examples: [
            "certificate list --ending-within 30d",
            "certificate list merchant.com.example --state current",
        ])

    @OptionGroup var selection: KeySelection
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let keys = try await selection.read(admin)
            switch global.output {
            case .table:
                let selected = keys.items.filter(selection.contains).flatMap { CertificateOfKey.all(of: $0) }
                global.printer.show([CertificateOfKey.table(CertificateOfKey.sorted(selected))])
            case .json:
                let selected = try keys.jsonItems().filter { selection.contains($0.item) }.flatMap {
                    CertificateOfKey.all(of: $0.item, json: $0.json)
                }
                global.printer.json(list: CertificateOfKey.sorted(selected).compactMap(\.json))
            }
        }
    }
}

/// A certificate with the key pair that it certifies.
private struct CertificateOfKey {
    let certificate: CertificateDocument
    let key: KeyDocument
    /// The certificate as the daemon sent it, with the key pair's hash, merchant and state; nil for a table.
    var json: JSONValue?

    static func all(of key: KeyDocument) -> [CertificateOfKey] {
        key.certificates.map { CertificateOfKey(certificate: $0, key: key) }
    }

    /// - Parameter json: the key pair as the daemon sent it.
    static func all(of key: KeyDocument, json: JSONValue) -> [CertificateOfKey] {
        guard case .object(let object) = json, case .array(let certificates) = object["certificates"] else { return [] }
        let ofKey = ["publicKeyHash", "merchantIdentifier", "state"].compactMap { name in
            object[name].map { JSONObject.Member(name: name, value: $0) }
        }
        return zip(key.certificates, certificates).map { certificate, value in
            guard case .object(let members) = value else {
                return CertificateOfKey(certificate: certificate, key: key, json: value)
            }
            return CertificateOfKey(
                certificate: certificate, key: key, json: .object(JSONObject(members: members.members + ofKey)))
        }
    }

    static func sorted(_ certificates: [CertificateOfKey]) -> [CertificateOfKey] {
        certificates.sorted {
            ($0.certificate.notAfter, $0.certificate.fingerprint) < (
                $1.certificate.notAfter, $1.certificate.fingerprint
            )
        }
    }

    static func table(_ certificates: [CertificateOfKey]) -> Block {
        .table(
            headings: ["VALID TO (UTC)", "SERIAL", "ISSUER VERIFIED", "KEY STATE", "PUBLIC KEY HASH", "MERCHANT"],
            rows: certificates.map {
                [
                    Cell(time: $0.certificate.notAfter), Cell($0.certificate.serialNumber),
                    $0.certificate.issuerVerified ? "yes" : "no", Cell(state: $0.key.state), Cell($0.key.publicKeyHash),
                    Cell($0.key.merchantIdentifier),
                ]
            }, details: ["SERIAL", "ISSUER VERIFIED"])
    }
}
