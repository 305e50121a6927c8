/// A decrypted token's fields under the names of an authorization message: `"view": "authorization"`.
package struct AuthorizationDocument: Codable, Sendable {
    /// Whose names: `general` or `americanExpress`.
    package let network: String
    package let primaryAccountNumber: String
    /// YYMMDD.
    package let expirationDate: String
    /// TAVV, CAVV or UCAF, Base64; absent for American Express.
    package let cryptogram: String?
    package let electronicCommerceIndicator: String?
    /// American Express: the cryptogram, Base64.
    package let tokenBlockA: String?
    /// American Express: zeros, as many bytes as block A has, Base64.
    package let tokenBlockB: String?
    package let tokenRequestorID: String?

    package init(
        network: String, primaryAccountNumber: String, expirationDate: String, cryptogram: String?,
        electronicCommerceIndicator: String?, tokenBlockA: String?, tokenBlockB: String?, tokenRequestorID: String?
    ) {
        self.network = network
        self.primaryAccountNumber = primaryAccountNumber
        self.expirationDate = expirationDate
        self.cryptogram = cryptogram
        self.electronicCommerceIndicator = electronicCommerceIndicator
        self.tokenBlockA = tokenBlockA
        self.tokenBlockB = tokenBlockB
        self.tokenRequestorID = tokenRequestorID
    }
}
