import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// Reads columns as values of the domain. A column without a valid value is an error, never a trap.
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

    /// - Parameter text: from a column of this row, or part of one.
    func domainName(_ text: String) throws -> DomainName { try value(DomainName(ascii: text), of: "domain_name") }

    /// One of an enumeration's cases, by its raw value.
    func oneOf<Case: RawRepresentable<String>>(_: Case.Type, _ column: String) throws -> Case {
        try value(Case(rawValue: try text(column)), of: column)
    }

    private func value<Value>(_ value: Value?, of column: String) throws -> Value {
        guard let value else {
            throw MerchantError(
                .storeUnavailable,
                "the database holds a value in column \(column) that cannot be read: restore a backup")
        }
        return value
    }
}

extension Digest256 {
    /// The value of a column.
    var data: Data { Data(bytes) }
}
