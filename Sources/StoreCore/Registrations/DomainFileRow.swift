package import MerchantCore
import Vocabulary

/// Converts the domain verification file to and from its row in `domain_verification_file`.
package enum DomainFileRow {
    package static let columns = "content, stored_at"

    package static func file(_ row: some StoredRow) throws -> DomainFile {
        DomainFile(bytes: try row.bytes("content"), storedAt: try row.timestamp("stored_at"))
    }

    /// The values of ``columns``.
    package static func values(_ file: DomainFile) -> Arguments { [file.bytes, file.storedAt] }
}
