package import FoundationEssentials
package import WireAPI

/// The registrations of a CSV file: a line for each merchant, its domains separated by blanks or semicolons.
package struct RegistrationFile: Sendable {
    package struct Line: Sendable {
        package let line: Int
        package let request: RegisterRequest
    }

    /// What is read of a file, in bytes.
    package static let largest = 64 << 20

    private static let required = ["partnerInternalMerchantIdentifier", "partnerMerchantName", "domainNames"]
    private static let optional = ["encryptTo", "merchantUrl", "merchantIdentifier"]

    package let lines: [Line]

    /// - Throws: ``CommandFailure``; then nothing of the file is to be done. Whether a line's values are good is the
    ///   daemon's to say.
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        do throws(CSVReader.Fault) {
            lines = try CSVTable(bytes, required: Self.required, optional: Self.optional).rows.map { row in
                Line(
                    line: row.line,
                    request: RegisterRequest(
                        partnerInternalMerchantIdentifier: row["partnerInternalMerchantIdentifier"] ?? "",
                        partnerMerchantName: row["partnerMerchantName"],
                        domainNames: (row["domainNames"] ?? "").split { $0.isWhitespace || $0 == ";" }.map(String.init),
                        encryptTo: row["encryptTo"], merchantUrl: row["merchantUrl"],
                        merchantIdentifier: row["merchantIdentifier"]))
            }
        } catch {
            throw CommandFailure(.refused, "nothing was done: \(path), \(error)")
        }
        guard !lines.isEmpty else { throw CommandFailure(.refused, "\(path) holds no merchant, only a heading") }
    }
}

extension RegistrationFile.Line: BulkItem {
    var name: String { request.partnerInternalMerchantIdentifier }
    var content: String {
        [
            request.partnerMerchantName, request.domainNames.joined(separator: " "), request.encryptTo,
            request.merchantUrl, request.merchantIdentifier,
        ].map { $0 ?? "" }.joined(separator: "|")
    }
    var place: String? { "line \(line)" }
}
