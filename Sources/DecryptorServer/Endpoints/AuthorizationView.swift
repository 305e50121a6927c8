import NIOCore
import PaymentToken

/// The response's member `authorization`: the payment data with the field names of an authorization message.
///
/// The member is written directly into the response's buffer, which is overwritten after the response was sent. A JSON
/// encoder would leave copies of the account number in memory.
struct AuthorizationView {
    private let members: [(name: String, value: String)]

    /// - Returns: nil if the payment has no cryptogram for an authorization message, as in EMV payments.
    init?(_ data: PaymentData) {
        let network = AuthorizationFields.Network(accountNumber: data.applicationPrimaryAccountNumber)
        guard let fields = data.authorizationFields(for: network) else { return nil }
        let all: [(name: String, value: String?)] = [
            ("network", network.rawValue), ("primaryAccountNumber", fields.primaryAccountNumber.unredacted),
            ("expirationDate", fields.expirationDate), ("cryptogram", fields.cryptogram?.unredacted),
            ("electronicCommerceIndicator", fields.electronicCommerceIndicator),
            ("tokenBlockA", fields.tokenBlockA?.unredacted), ("tokenBlockB", fields.tokenBlockB?.unredacted),
            ("tokenRequestorID", fields.tokenRequestorID),
        ]
        members = all.compactMap { member in member.value.map { (member.name, $0) } }
    }

    /// At least the number of bytes that ``write(into:)`` writes. JSON needs at most six bytes to escape one byte, and
    /// each member has six further characters: four quotes, a colon and a comma.
    var capacity: Int { members.reduce(2) { $0 + $1.name.utf8.count + 6 * $1.value.utf8.count + 6 } }

    func write(into buffer: inout ByteBuffer) {
        for (index, member) in members.enumerated() {
            buffer.writeStaticString(index == 0 ? "{" : ",")
            buffer.writeJSONString(member.name)
            buffer.writeStaticString(":")
            buffer.writeJSONString(member.value)
        }
        buffer.writeStaticString("}")
    }
}

extension AuthorizationFields.Network {
    /// Account numbers of American Express begin with 34 or 37 (ISO/IEC 7812). The same applies to the device account
    /// numbers in tokens of American Express.
    fileprivate init(accountNumber: SensitiveText) {
        let prefix = accountNumber.unredacted.prefix(2)
        self = prefix == "34" || prefix == "37" ? .americanExpress : .general
    }
}
