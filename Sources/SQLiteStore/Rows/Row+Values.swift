import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// Reads columns as typed values. These methods throw an error if a column has no valid value. GRDB's subscripts would
/// end the process instead. Methods with `IfAny` in their name return nil for NULL.
extension Row {
    func text(_ column: String) throws -> String { try decode(String.self, forColumn: column) }

    func textIfAny(_ column: String) throws -> String? { try decode(String?.self, forColumn: column) }

    func integer(_ column: String) throws -> Int { try decode(Int.self, forColumn: column) }

    func flag(_ column: String) throws -> Bool { try integer(column) != 0 }

    func bytes(_ column: String) throws -> [UInt8] { Array(try decode(Data.self, forColumn: column)) }

    func timestamp(_ column: String) throws -> Timestamp {
        Timestamp(millisecondsSince1970: try decode(Int64.self, forColumn: column))
    }

    func timestampIfAny(_ column: String) throws -> Timestamp? {
        try decode(Int64?.self, forColumn: column).map(Timestamp.init(millisecondsSince1970:))
    }

    func publicKeyHash(_ column: String = "public_key_hash") throws -> PublicKeyHash {
        try value(PublicKeyHash(bytes: try decode(Data.self, forColumn: column)), of: column)
    }

    func publicKeyHashIfAny(_ column: String = "public_key_hash") throws -> PublicKeyHash? {
        try decode(Data?.self, forColumn: column).map { try value(PublicKeyHash(bytes: $0), of: column) }
    }

    func merchantIdentifier(_ column: String = "merchant_identifier") throws -> MerchantIdentifier {
        try value(MerchantIdentifier(try text(column)), of: column)
    }

    func merchantIdentifierIfAny(_ column: String = "merchant_identifier") throws -> MerchantIdentifier? {
        try textIfAny(column).map { try value(MerchantIdentifier($0), of: column) }
    }

    func partner() throws -> PartnerInternalMerchantIdentifier {
        let column = "partner_internal_merchant_identifier"
        return try value(PartnerInternalMerchantIdentifier(try text(column)), of: column)
    }

    /// Converts a domain name from the database. The parameter is the domain name itself and not the name of a column,
    /// because the column `domain_names` contains several domain names.
    func domainName(_ text: String) throws -> DomainName { try value(DomainName(ascii: text), of: "domain_name") }

    /// Reads an enumeration case from a column that contains the case's raw value.
    func oneOf<Case: RawRepresentable<String>>(_: Case.Type, _ column: String) throws -> Case {
        try value(Case(rawValue: try text(column)), of: column)
    }

    /// Throws if the conversion of a column's value has returned nil.
    func value<Value>(_ value: Value?, of column: String) throws -> Value {
        guard let value else {
            throw MerchantError(
                .storeUnavailable,
                "the database contains an invalid value in column \(column): restore a backup")
        }
        return value
    }
}

extension Digest256 {
    /// The bytes as a column stores them.
    var data: Data { Data(bytes) }
}
