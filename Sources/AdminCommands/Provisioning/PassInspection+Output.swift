import PassProvisioning
import StrictJSON
import Vocabulary

/// The output for `--output table`.
extension PassInspection {
    var blocks: [Block] {
        // A record omits the fields without a value.
        let requests = values.source == .deviceLog ? Cell(values.requestCount) : nil
        let record = Block.record([
            ("source", Cell(values.source == .json ? "JSON" : "the text of a log")),
            ("requests to the broker", requests),
            ("values found", Cell(values.names.isEmpty ? "none" : values.names.joined(separator: ", "))),
            ("encryptedPassData (bytes)", Self.cell(values.encryptedPassDataLength)),
            ("ephemeralPublicKey (bytes)", Self.cell(values.ephemeralPublicKeyLength)),
            ("activationData (bytes)", Self.cell(values.activationDataLength)),
            ("encryption version", Cell(values.encryptionVersion?.rawValue ?? "not named")),
            ("decryption", values.decryption.cell),
            ("faults", Cell(faults.count, faults.isEmpty ? .good : .critical)),
        ])
        return findings.isEmpty ? [record] : [record, .findings(findings)]
    }

    /// The findings without the warnings.
    var faults: [any ProvisioningFinding] { findings.filter { !$0.isWarning } }

    private static func cell(_ length: Int?) -> Cell { length.map { Cell($0) } ?? "can't be read" }
}

extension InspectedValues.Decryption {
    fileprivate var cell: Cell {
        switch self {
        case .notAttempted: "not attempted"
        case .succeeded: Cell("succeeded with EV_ECC_v2", .good)
        case .succeededWithFault: Cell("succeeded, but the card was encrypted in another way", .critical)
        case .failed: Cell("failed", .critical)
        }
    }
}

/// The output for `--output json`.
extension PassInspection {
    var document: JSONValue {
        var recognized: [JSONObject.Member] = [
            .init(name: "source", value: .string(values.source.rawValue)),
            .init(name: "names", value: .array(values.names.map(JSONValue.string))),
            .init(name: "requestCount", value: .number("\(values.requestCount)")),
            .init(name: "decryption", value: .string(values.decryption.rawValue)),
        ]
        for (name, length) in [
            ("encryptedPassDataLength", values.encryptedPassDataLength),
            ("ephemeralPublicKeyLength", values.ephemeralPublicKeyLength),
            ("activationDataLength", values.activationDataLength),
        ] {
            if let length { recognized.append(.init(name: name, value: .number("\(length)"))) }
        }
        if let version = values.encryptionVersion {
            recognized.append(.init(name: "encryptionVersion", value: .string(version.rawValue)))
        }
        return .object(
            JSONObject(members: [
                .init(name: "values", value: .object(JSONObject(members: recognized))),
                .init(name: "findings", value: .array(findings.map { $0.document })),
            ]))
    }
}
