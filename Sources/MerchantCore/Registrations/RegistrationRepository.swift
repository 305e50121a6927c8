package import Vocabulary

/// What can be asked of the store about registrations.
package protocol RegistrationReading {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration?
    /// By identifier, those after `cursor`.
    ///
    /// - Parameter all: also those that were withdrawn or never came to be; Apple may yet have acted on them.
    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration]
    /// One registration that names the merchant record, or encrypts to it, or a call that may yet become one.
    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier?
    /// The call to Apple whose outcome nobody knows yet.
    func openCall(of partner: PartnerInternalMerchantIdentifier) throws -> RegistrationCall?
    /// Calls that a later one asked for again, opened after `moment`: they may still be on their way.
    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since moment: Timestamp
    ) throws -> [RegistrationCall]
    /// All that are open, in a stable order; those after `cursor`.
    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall]
    /// Merchant records of the platform itself, at most `limit`.
    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier]
    /// Active key pairs with purpose identity, oldest first.
    func activeIdentityKeyPairs() throws -> [KeyPair]
    func domainFile() throws -> DomainFile?
}

/// What can be changed about registrations.
package protocol RegistrationWriting: RegistrationReading {
    func insert(_ registration: Registration) throws
    /// Writes everything but identifier and time of creation.
    func update(_ registration: Registration) throws
    /// - Throws: `registrationConflict` while another call of the same merchant is open.
    func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at moment: Timestamp
    ) throws -> RegistrationCall
    /// - Parameter finding: how the outcome became known, or why Apple refused.
    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at moment: Timestamp
    ) throws
    func store(_ file: DomainFile) throws
}
