package import Vocabulary

/// Reads registrations, calls to Apple and the domain verification file in a transaction of the store.
package protocol RegistrationReading {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration?
    /// Registrations sorted by identifier, starting after `cursor`.
    ///
    /// - Parameter all: whether to include registrations that were unregistered or never confirmed, because Apple may
    ///   still have a record of them.
    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration]
    /// A registration that belongs to the merchant or encrypts to the merchant's key, or whose open call requests this;
    /// nil if there is none.
    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier?
    /// The merchant's call to Apple whose outcome is unknown; nil if there is none.
    func openCall(of partner: PartnerInternalMerchantIdentifier) throws -> RegistrationCall?
    /// Calls with the outcome `repeated` that were opened after `time`. An attempt of such a call may still reach
    /// Apple.
    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) throws -> [RegistrationCall]
    /// Open calls in a stable order, starting after `cursor`.
    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall]
    func domainFile() throws -> DomainFile?
}

/// Reads and changes registrations, calls to Apple and the domain verification file in a transaction of the store.
package protocol RegistrationWriting: RegistrationReading {
    func insert(_ registration: Registration) throws
    /// Writes every field except the identifier and the time of creation.
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
