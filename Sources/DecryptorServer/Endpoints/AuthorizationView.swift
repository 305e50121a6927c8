import NIOCore
import PaymentToken

/// The response's member `authorization`: the payment data under the names of an authorization message.
///
/// It is written directly into the response, which is wiped. An encoder would leave copies of the account number behind.
struct AuthorizationView {
    private let members: [(name: String, value: String)]

    /// - Returns: nil where the payment has no such fields, because it is not a 3DSecure payment.
    init?(_ data: PaymentData) {
        let network = AuthorizationFields.Network(accountNumber: data.applicationPrimaryAccountNumber)
        guard let fields = data.authorizationFields(for: network) else { return nil }
        let all: [(name: String, value: String?)] = [
            ("network", network.rawValue), ("primaryAccountNumber", fields.primaryAccountNumber.exposed),
            ("expirationDate", fields.expirationDate), ("cryptogram", fields.cryptogram?.exposed),
            ("electronicCommerceIndicator", fields.electronicCommerceIndicator),
            ("tokenBlockA", fields.tokenBlockA?.exposed), ("tokenBlockB", fields.tokenBlockB?.exposed),
            ("tokenRequestorID", fields.tokenRequestorID),
        ]
        members = all.compactMap { member in member.value.map { (member.name, $0) } }
    }

    /// No less than what is written: a byte of a JSON string takes at most six.
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
    /// Account numbers that begin with 34 or 37 are American Express's, also device account numbers (ISO/IEC 7812).
    fileprivate init(accountNumber: SensitiveText) {
        let beginning = accountNumber.exposed.prefix(2)
        self = beginning == "34" || beginning == "37" ? .americanExpress : .general
    }
}
