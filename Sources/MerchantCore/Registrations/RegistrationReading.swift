package import Vocabulary

/// The port for registrations at Apple and the domain verification file: what a transaction may read of them.
package protocol RegistrationReading {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration?
    /// By identifier, starting after `cursor`.
    ///
    /// - Parameter all: also those that were unregistered or never confirmed; Apple may still have a record of them.
    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration]
    /// A registration or an open call that belongs to the merchant or encrypts to its key.
    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier?
    /// The call to Apple whose outcome is unknown.
    func openCall(of partner: PartnerInternalMerchantIdentifier) throws -> RegistrationCall?
    /// Calls opened after `time` that were sent again: an earlier attempt may still reach Apple.
    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) throws -> [RegistrationCall]
    /// Open calls in a stable order, starting after `cursor`.
    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall]
    func domainFile() throws -> DomainFile?
}

/// The port for registrations at Apple and the domain verification file: what a transaction may also change.
package protocol RegistrationWriting: RegistrationReading {
    func insert(_ registration: Registration) throws
    /// Writes every field except identifier and time of creation.
    func update(_ registration: Registration) throws
    /// - Throws: `registrationConflict` while another call of the same merchant is open.
    func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at time: Timestamp
    ) throws -> RegistrationCall
    /// - Parameter finding: how the outcome became known, or the reason for Apple's refusal.
    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws
    func store(_ file: DomainFile) throws
}
